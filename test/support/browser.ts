/** A real browser, where the machine has one. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** Why tests in a browser are skipped; null where they are not. */
export const noBrowser =
  CHROMIUM === undefined
    ? 'no Chromium at /usr/bin/chromium: install the package chromium to run these'
    : null;

export function startBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(noBrowser ?? '');
  return chromium.launch({
    executablePath: CHROMIUM,
    // It talks to the service under test and to nobody else; root has no sandbox.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Requests so far: method and path below the host, with the range that was asked for. */
  readonly requests: readonly string[];
}

/**
 * A page of its own context, closed with the test, which fails for whatever went wrong unseen: an exception, a refused script
 * or style, a dialog, a request to another host.
 */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const faults: string[] = [];
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const { host } = new URL(url);
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on('console', (message) => {
    // What the service refuses the page shows, and the browser tells it once more.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      faults.push(message.text());
    }
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol === 'blob:') return;
    if (asked.host !== host) faults.push(`a request to ${asked.host}`);
    const { range = '' } = request.headers();
    requests.push(`${request.method()} ${asked.pathname}${asked.search}${range === '' ? '' : ` ${range}`}`);
  });
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  return { page, requests };
}

/** What axe finds serious or worse, as the rule and what breaks it; by all its rules, or by these. */
export async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<
    { impact: string; id: string; nodes: { target: string[]; failureSummary: string }[] }[]
  >(
    `axe.run(${JSON.stringify(rules === undefined ? {} : { runOnly: rules })}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Whether anything reaches beyond the right edge of the window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
}
