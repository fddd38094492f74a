/** A real browser, where the machine has one. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

export const hasBrowser = existsSync(CHROMIUM);

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    // It talks to the service under test and to nobody else; root has no sandbox.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ].concat('--disable-component-update', '--disable-sync'),
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Whatever went wrong unseen: exceptions, refused scripts or styles, requests to another host. */
  readonly faults: readonly string[];
}

/** A page of its own context, with everything noted that a person would not see. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    // A refusal that the page shows is also told by the browser, and no fault.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      faults.push(message.text());
    }
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== 'blob:' && asked.host !== new URL(url).host) faults.push(`asked ${asked.host}`);
  });
  page.setDefaultTimeout(15_000);
  await page.goto(url);
  return { page, faults };
}
