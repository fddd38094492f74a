/** The page over stores that are large, and over metadata that means harm. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { isTooWide, noBrowser, openPage, seriousFindings, startBrowser } from '../support/browser.ts';
import { idOf, metadataOf } from '../support/example.ts';
import { writePackages } from '../support/many-packages.ts';
import { appForTest } from '../support/service.ts';
import { packagePath, temporaryRoot } from '../support/stores.ts';

const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const TURNED = '\u202egnp.exe\u202c\u2066\u200b';
const LONG = `${'x'.repeat(999_990)}THE END ✓`;

describe.skipIf(noBrowser !== null)(
  `The page in a browser${noBrowser === null ? '' : ` (${noBrowser})`}`,
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser.close());

    const rows = (page: Page) => page.locator('table.store tbody tr');

    test('shows a store of 10,000 page by page, finds any of them, and looks through all only when asked', async () => {
      const service = await appForTest({ root: temporaryRoot() });
      const all = Array.from({ length: 10_000 }, (_, number) =>
        metadataOf(idOf(number), {
          source_namespace: `space.${number % 40}`,
          scope: number === 123 ? 'the only one of its kind' : 'all rows',
          finished_at_ns: String(1_761_782_401_000_000_001n + BigInt(number) * 3_600_000_000_000n),
        }),
      );
      writePackages(service.root, all);
      fs.writeFileSync(packagePath(service.root, idOf(5_000), 'manifest.json'), '{}');
      const { page, requests } = await openPage(browser, service.url);
      await expect.poll(() => rows(page).count()).toBe(100);
      const listings = () => requests.filter((request) => request.includes('/snapshots?'));
      expect(listings().every((request) => / \/snapshots\?.*limit=100(&|$)/u.test(request))).toBe(true);
      // What is damaged has no time and would be the last of all.
      await expect.poll(() => rows(page).first().textContent()).toContain(idOf(5_000));
      expect(await rows(page).nth(1).textContent()).toContain(idOf(9_999));
      expect(await page.locator('.summary').textContent()).toContain('newest');
      await page.getByLabel('Search').fill(idOf(17).slice(0, 31));
      await expect.poll(() => rows(page).count()).toBe(16);
      await page.getByLabel('Search').fill('only one of its KIND');
      await expect.poll(() => page.locator('table.store .id').allTextContents()).toEqual([idOf(123)]);
      await page.getByLabel('Search').fill('');
      await expect
        .poll(() => page.locator('.summary').textContent())
        .toMatch(/^10,000 snapshots.*1 damaged/u);
      expect(await rows(page).count()).toBe(100);
      expect(await page.locator('.timeline li').count()).toBe(6);
      await page.getByRole('button', { name: '34 further namespaces' }).click();
      expect(await page.locator('.timeline li').count()).toBe(40);
      await page.getByRole('button', { name: 'Show 100 more' }).click();
      expect(await rows(page).count()).toBe(200);
      await page.locator('.timeline').getByRole('link', { name: 'space.7', exact: true }).click();
      await expect.poll(() => page.locator('table.store tr:not(.damaged)').count()).toBeGreaterThan(99);
      for (const text of (await page.locator('.source .strong').allTextContents()).slice(0, 20))
        expect(text).toBe('space.7');
      expect(await isTooWide(page)).toBe(false);
    });

    describe('of a producer who means harm', () => {
      const harmful = {
        source_namespace: MARKUP,
        source_version: TURNED,
        source_consistency: '\0',
        scope: LONG,
      };
      const coverage = {
        status: 'PARTIAL',
        expected_records: null,
        returned_records: '18446744073709551615',
        failure_reasons: [
          MARKUP,
          TURNED,
          LONG,
          ...Array.from({ length: 300 }, (_, at) => `reason ${at}\u2028`),
        ],
      };
      const start = async () => {
        const service = await appForTest({ root: temporaryRoot() });
        writePackages(service.root, [
          metadataOf(idOf(1), { ...harmful, coverage, parent_id: idOf(9) }),
          metadataOf(idOf(2), { ...harmful, parent_id: idOf(1), source_version: `${TURNED}2` }),
        ]);
        fs.mkdirSync(join(service.root, 'snapshots', '<b onclick=alert(3)>\u202efdp'));
        fs.mkdirSync(join(service.root, 'staging', '<svg onload=alert(4)>\u202e'));
        return service;
      };
      const views = [
        '#/',
        `#/snapshots/${idOf(1)}`,
        `#/snapshots/${idOf(2)}/lineage`,
        `#/snapshots/${idOf(1)}/compare/${idOf(2)}`,
        '#/incomplete',
        `#/?namespace=${encodeURIComponent(MARKUP)}&text=${encodeURIComponent(TURNED)}`,
      ];

      test.each([
        ['wide', 1280],
        ['narrow', 360],
      ])('nothing runs, hides, turns or floods what is around it, in a %s window', async (_, width) => {
        const { url } = await start();
        const { page } = await openPage(browser, url, { viewport: { width, height: 800 } });
        for (const hash of views) {
          await page.goto(`${url}/${hash}`);
          await expect.poll(() => page.locator('.loading').count()).toBe(0);
          await page.locator('bdi').first().waitFor();
          const text = await page.evaluate<string>('document.body.textContent');
          expect(text, hash).not.toMatch(/[\0\u200b\u2028\u202a-\u202e\u2066-\u2069]/u);
          expect(text.length, hash).toBeLessThan(60_000);
          expect(
            await page.locator('#page img, #page script, #page b, #page [onclick], #page [onload]').count(),
            hash,
          ).toBe(0);
          expect(await page.evaluate<string>('document.title'), hash).not.toMatch(/[<\u202e]/u);
          expect(await isTooWide(page), hash).toBe(false);
          if (width > 1000) expect(await seriousFindings(page), hash).toEqual([]);
        }
      });

      test('every character is told, also those that cannot be seen, and the whole of a long text is at hand', async () => {
        const { url } = await start();
        const { page } = await openPage(browser, `${url}/#/snapshots/${idOf(1)}`);
        const facts = page.getByRole('region', { name: 'Source' });
        await facts.waitFor();
        const text = await facts.textContent();
        expect(text).toContain(MARKUP);
        expect(text).toContain('U+202Egnp.exeU+202CU+2066U+200B');
        expect(text).toContain('\\0');
        expect(await facts.locator('.escape').allTextContents()).toEqual([
          'U+202E',
          'U+202C',
          'U+2066',
          'U+200B',
          '\\0',
        ]);
        expect(text).not.toContain('THE END');
        expect(
          await page.evaluate(
            "getComputedStyle(document.querySelector('.escape').closest('bdi')).unicodeBidi",
          ),
        ).toBe('isolate');
        await facts.getByRole('button', { name: 'all 999,999 characters' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText('Characters 1 to 8,000 of 999,999').waitFor();
        const pages = Math.ceil(LONG.length / 8_000);
        for (let number = 1; number < 4; number += 1)
          await dialog.getByRole('button', { name: 'After' }).click();
        await dialog.getByText('Characters 24,001 to 32,000 of 999,999').waitFor();
        expect(pages).toBe(125);
        await page.keyboard.press('Escape');
        expect(await dialog.count()).toBe(0);
        const reasons = page.locator('.reasons');
        expect(await reasons.locator('li').count()).toBe(20);
        await reasons.getByRole('button', { name: 'Show more of them' }).click();
        expect(await reasons.locator('li').count()).toBe(220);
        expect(await page.locator('.coverage').textContent()).toBe(
          '18,446,744,073,709,551,615 records returned, of an unknown number',
        );
      });
    });
  },
);
