/** Every view of the page in a real browser, over a store as somebody may have it. */
import fs from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { isTooWide, noBrowser, openPage, seriousFindings, startBrowser } from '../support/browser.ts';
import { demoId, fillDemo, type Demo } from '../support/demo-store.ts';
import { idOf } from '../support/example.ts';
import { ask, jsonOf } from '../support/http.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { packagePath, pattern, publishExample } from '../support/stores.ts';
import { MULTIPART } from '../support/uploads.ts';
import { bodyOf } from '../http/multipart-support.ts';

describe.skipIf(noBrowser !== null)(
  `The page in a browser${noBrowser === null ? '' : ` (${noBrowser})`}`,
  () => {
    let browser: Browser;
    let service: RunningApp;
    let demo: Demo;

    beforeAll(async () => {
      [browser, service] = await Promise.all([startBrowser(), startApp()]);
      demo = await fillDemo(service.store, service.root);
    });
    afterAll(async () => {
      await browser.close();
      await service.close();
    });

    const at = (hash: string): string => `${service.url}/${hash}`;
    const rows = (page: Page) => page.locator('table.store tbody tr');
    const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

    describe('Store', () => {
      test('lists the newest first with coverage, size and both forms of time, and what is damaged with its problem', async () => {
        const { page } = await openPage(browser, service.url);
        await expect.poll(() => rows(page).count()).toBe(11);
        const damaged = rows(page).first();
        expect(await damaged.textContent()).toMatch(
          /DAMAGED.*storage_integrity.*complete\.sha256 must hold/u,
        );
        const ids = await page.locator('table.store .id').allTextContents();
        const listing = jsonOf(
          await ask(service.url, '/snapshots?order=newest&proof=frame&damaged=show'),
        ).snapshots.map((entry: { snapshot_id: string }) => entry.snapshot_id);
        expect(ids).toEqual([demo.damaged, ...listing.filter((id: string) => id !== demo.damaged)]);
        const partial = rows(page).filter({ hasText: demo.partial });
        expect(await partial.textContent()).toMatch(
          /PARTIAL.*warehouse\.sales.*eastern region.*2026-12-30T00:00:00\.000000123Z/u,
        );
        expect(await partial.locator('time').textContent()).toMatch(/2026/u);
        expect(await partial.locator('.size').getAttribute('title')).toBe('99,840 bytes');
        expect(await page.locator('.summary').textContent()).toContain('11 snapshots');
        expect(await page.locator('.timeline li').count()).toBe(3);
        expect(await page.locator('.timeline svg').first().getAttribute('aria-label')).toBe(
          '7 snapshots: 7 COMPLETE',
        );
      });

      test('is searched by the beginning of an id, by words, coverage, resolution, namespace and days', async () => {
        const { page } = await openPage(browser, service.url);
        const search = page.getByLabel('Search');
        await search.fill(demo.fork.slice(0, 6));
        await expect.poll(() => rows(page).count()).toBe(1);
        expect(page.url()).toContain(`text=${demo.fork.slice(0, 6)}`);
        await search.fill('EASTERN region');
        await expect.poll(() => rows(page).count()).toBe(2);
        await page.getByLabel('Coverage').selectOption('UNAVAILABLE');
        await expect.poll(() => rows(page).count()).toBe(1);
        await page.reload();
        await expect.poll(() => rows(page).count()).toBe(1);
        expect(await search.inputValue()).toBe('EASTERN region');
        await page.getByRole('link', { name: 'Clear' }).click();
        await expect.poll(() => rows(page).count()).toBe(11);
        await page.getByLabel('Coverage').selectOption('DAMAGED');
        await expect.poll(() => rows(page).count()).toBe(1);
        await page.getByLabel('Coverage').selectOption('');
        await page.getByLabel('Resolution').selectOption('record');
        await expect.poll(() => rows(page).count()).toBe(1);
        await page.getByLabel('Resolution').selectOption('');
        await page.locator('.timeline').getByRole('link', { name: 'npm.packages' }).click();
        await expect.poll(() => rows(page).count()).toBe(8);
        await page.getByLabel('Show every namespace').click();
        await page.getByLabel('Finished from').fill('2026-12-01');
        await page.getByLabel('until').fill('2026-12-20');
        await expect
          .poll(() => page.locator('table.store tr:not(.damaged) .id').allTextContents())
          .toEqual([demo.fork]);
        await page.getByLabel('Search').fill('no such thing');
        await expect.poll(() => page.locator('.summary').textContent()).toContain('match');
      });

      test('leads to the snapshot whose whole id is searched for', async () => {
        const { page } = await openPage(browser, service.url);
        await page.getByLabel('Search').fill(demo.partial.toUpperCase());
        await page.getByLabel('Search').press('Enter');
        await expect.poll(() => page.url()).toContain(`#/snapshots/${demo.partial}`);
      });

      test('says what can be done where nothing is published', async () => {
        const empty = await appForTest();
        const { page } = await openPage(browser, empty.url);
        await page.getByText('Nothing is published here yet').waitFor();
        await page.getByRole('link', { name: 'Publish a snapshot by hand' }).click();
        await heading(page, 'Publish').waitFor();
      });
    });

    describe('Snapshot', () => {
      test('shows coverage, facts, and of each array its ends, extremes and a histogram of its real values', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.line[0]!}`));
        await heading(page, 'Snapshot').waitFor();
        await expect
          .poll(() => page.locator('.coverage').textContent())
          .toBe('3,990 of 3,990 records returned 100.0 %');
        const ids = page.getByRole('article', { name: 'ids' });
        await expect.poll(() => ids.locator('.values').textContent()).toContain('-7,984');
        expect(await ids.textContent()).toMatch(/int64.*3,990 values.*32 kB.*SHA-256 [0-9a-f]{64}/u);
        expect(await ids.locator('.ends').first().textContent()).toBe(
          '-7,984  -7,968  -7,952  -7,936  -7,920',
        );
        const flags = page.getByRole('article', { name: 'downloads_validity' });
        await flags.scrollIntoViewIfNeeded();
        const bars = flags.locator('.histogram title');
        await expect.poll(() => bars.count()).toBe(2);
        const stored = fs.readFileSync(
          packagePath(service.root, demo.line[0]!, 'array-downloads_validity.bin'),
        );
        const ones = stored.filter((value) => value === 1).length;
        expect(await bars.allTextContents()).toEqual([
          `0: ${stored.length - ones} values`,
          `1: ${ones.toLocaleString('en')} values`,
        ]);
        const marker = fs.readFileSync(packagePath(service.root, demo.line[0]!, 'complete.sha256'), 'utf8');
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'complete.sha256' }).click(),
        ]);
        expect(fs.readFileSync(await download.path(), 'utf8')).toBe(marker);
      });

      test('copies exactly what is shown', async () => {
        const permissions = ['clipboard-read', 'clipboard-write'];
        const { page } = await openPage(browser, at(`#/snapshots/${demo.line[0]!}`), { permissions });
        for (const [name, text] of [
          ['Copy the id', demo.line[0]!],
          ['Copy algorithm id', 'example-fingerprint/1'],
        ] as const) {
          await page.getByRole('button', { name }).click();
          await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(text);
        }
        const lines = await page.locator('.lines pre').allTextContents();
        expect(lines[0]).toContain(`curl -f ${service.url}/snapshots/${demo.line[0]!}`);
        expect(lines[1]).toContain('numpy.load(io.BytesIO(read("/array-ids.npy")))');
      });

      test('draws what is unknown as unknown, and never as none', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.unavailable}`));
        const coverage = page.locator('.coverage');
        await expect.poll(() => coverage.textContent()).toBe('0 records returned, of an unknown number');
        expect(await coverage.getAttribute('class')).toContain('unknown');
        expect(await coverage.locator('.gauge > *').count()).toBe(0);
        expect(await page.locator('.reasons').textContent()).toContain('the source refused the connection');
        await page.getByText('This snapshot holds metadata only.').waitFor();
      });

      test('shows values of 64 bits without rounding, and says where an array is empty', async () => {
        const { url, store } = await appForTest();
        await publishExample(store, idOf(1), {
          ends: new BigInt64Array([-(2n ** 63n), 2n ** 63n - 1n, 0n]),
          most: new BigUint64Array([2n ** 64n - 1n, 2n ** 64n - 2n]),
          none: new Int8Array(0),
        });
        const { page } = await openPage(browser, `${url}/#/snapshots/${idOf(1)}`);
        const ends = page.getByRole('article', { name: 'ends' });
        await expect
          .poll(() => ends.locator('.values').textContent())
          .toContain('-9,223,372,036,854,775,808');
        expect(await ends.locator('.values').textContent()).toContain('9,223,372,036,854,775,807');
        const most = page.getByRole('article', { name: 'most' });
        await expect
          .poll(() => most.locator('.histogram title').allTextContents())
          .toEqual(['18,446,744,073,709,551,614: 1 value', '18,446,744,073,709,551,615: 1 value']);
        await expect
          .poll(() => page.getByRole('article', { name: 'none' }).textContent())
          .toContain('It is empty.');
      });

      test('samples a large array by ranges and says so', async () => {
        const { url, store } = await appForTest();
        const bytes = pattern(20_000_000);
        await publishExample(store, idOf(1), { large: new Int32Array(bytes.buffer) });
        const { page, requests } = await openPage(browser, `${url}/#/snapshots/${idOf(1)}`);
        await expect
          .poll(() => page.locator('.sampled').textContent())
          .toMatch(/393,216 of 5,000,000 values/u);
        const ranges = requests.filter((request) => request.includes('array-large.bin'));
        expect(ranges).toHaveLength(6);
        for (const range of ranges) expect(range).toMatch(/ bytes=\d+-\d+$/u);
        const view = new DataView(bytes.buffer);
        const last = [5, 4, 3, 2, 1].map((back) =>
          view.getInt32(bytes.length - back * 4, true).toLocaleString('en'),
        );
        expect(await page.locator('.ends').last().textContent()).toBe(last.join('  '));
        expect(await page.locator('.values').textContent()).toContain('Least seen');
      });

      test('that cannot be proven is refused with what is wrong, and nothing of it is shown', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.damaged}`));
        const trouble = page.getByRole('alert');
        await expect
          .poll(() => trouble.textContent())
          .toMatch(/cannot be proven.*complete\.sha256.*storage_integrity/su);
        expect(await page.locator('.coverage, article').count()).toBe(0);
        await page.goto(at(`#/snapshots/${'0'.repeat(32)}`));
        await expect.poll(() => trouble.textContent()).toContain('snapshot_not_found');
      });
    });

    describe('Lineage', () => {
      test('draws parents, children and forks, each row with its links', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.line[3]!}/lineage`));
        const items = page.locator('.graph li');
        await expect.poll(() => items.count()).toBe(7);
        expect(await page.locator('.graph .id').allTextContents()).toEqual([
          demo.line[5],
          demo.line[4],
          demo.fork,
          demo.line[3],
          demo.line[2],
          demo.line[1],
          demo.line[0],
        ]);
        expect(await page.locator('.graph path').count()).toBe(6);
        expect(await page.locator('.graph [aria-current]').textContent()).toContain(demo.line[3]);
        await items.nth(2).getByRole('link', { name: 'since its parent' }).click();
        await expect.poll(() => page.url()).toContain(`#/snapshots/${demo.line[2]!}/compare/${demo.fork}`);
        await page.goBack();
        await expect.poll(() => items.count()).toBe(7);
      });

      test('names a parent that is not here, and shows a damaged one', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.orphan}/lineage`));
        await expect
          .poll(() => page.locator('.graph li').last().textContent())
          .toMatch(/MISSING.*not in this store/u);
      });
    });

    describe('Difference', () => {
      test('tells what differs by position, with exact values, and draws where', async () => {
        const [from, to] = [demo.line[4]!, demo.line[5]!];
        const { page } = await openPage(browser, at(`#/snapshots/${from}/compare/${to}`));
        const downloads = page.getByRole('region', { name: /^downloads changed$/u });
        await downloads.waitFor();
        const { arrays } = jsonOf(await ask(service.url, `/snapshots/${from}/compare/${to}`));
        expect(await downloads.textContent()).toContain(
          `${Number(arrays.downloads.differing).toLocaleString('en')} elements differ`,
        );
        await downloads.locator('.strip').waitFor();
        const told = await downloads.locator('.strip title').allTextContents();
        const drawn = told.reduce(
          (sum, title) => sum + Number(/^[\d,]+/u.exec(title)![0].replaceAll(',', '')),
          0,
        );
        expect(drawn).toBe(Number(arrays.downloads.differing));
        const first = arrays.downloads.examples[0];
        const cells = await downloads.locator('tbody tr').first().locator('td').allTextContents();
        expect(cells.slice(0, 3)).toEqual(
          [first.index, first.from, first.to].map((text: string) => BigInt(text).toLocaleString('en')),
        );
      });

      test('aligns rows by a key that is chosen, and the address keeps it', async () => {
        const [from, to] = [demo.line[4]!, demo.line[5]!];
        const { page } = await openPage(browser, at(`#/snapshots/${from}/compare/${to}`));
        await page.getByLabel('Compare rows').selectOption('ids');
        const tally = page.locator('.tally');
        await expect.poll(() => tally.textContent()).toMatch(/^13 added10 removed\d+ changed[\d,]+ same$/u);
        await page.reload();
        await expect.poll(() => tally.textContent()).toContain('13 added');
        const strips = page.getByRole('region', { name: 'Rows by ids' }).locator('.strip');
        await expect.poll(() => strips.count()).toBe(2);
        const { rows: told } = jsonOf(await ask(service.url, `/snapshots/${from}/compare/${to}?key=ids`));
        expect(await tally.textContent()).toContain(`${told.changed} changed`);
        await page.getByLabel('Compare rows').selectOption('downloads');
        await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/downloads/u);
      });

      test('says first what makes the two hard to compare', async () => {
        const { page } = await openPage(browser, at(`#/snapshots/${demo.line[4]!}/compare/${demo.partial}`));
        const obstacles = page.locator('.obstacles');
        await expect
          .poll(() => obstacles.textContent())
          .toMatch(/compared with care.*resolution.*value.*record/su);
        await expect.poll(() => page.getByRole('region', { name: /only in the first/u }).count()).toBe(3);
      });

      test('is asked for by choosing two snapshots of the store', async () => {
        const { page } = await openPage(browser, service.url);
        await page.getByLabel(`Compare ${demo.line[0]!}`).check();
        await page.getByLabel(`Compare ${demo.line[1]!}`).check();
        await page.locator('.chosen').getByRole('link', { name: 'Compare' }).click();
        await expect
          .poll(() => page.url())
          .toContain(`#/snapshots/${demo.line[0]!}/compare/${demo.line[1]!}`);
      });
    });

    test('Incomplete attempts show phase, diagnostic, age and size, and which are in flight', async () => {
      const { port } = new URL(service.url);
      const whole = bodyOf([
        {
          name: 'metadata',
          payload: Buffer.from(
            JSON.stringify({ snapshot: { ...(await example()) }, arrays: { ids: { dtype: 'int64' } } }),
          ),
        },
        { name: 'ids', payload: Buffer.alloc(64) },
      ]);
      const upload = httpRequest({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/snapshots',
        headers: { 'content-type': MULTIPART },
      });
      upload.on('error', () => undefined);
      onTestFinished(() => {
        upload.destroy();
      });
      upload.write(whole.subarray(0, whole.length - 90));
      await expect.poll(() => fs.readdirSync(`${service.root}/staging`).length).toBe(3);
      const { page } = await openPage(browser, at('#/incomplete'));
      await expect.poll(() => page.locator('.attempts li').count()).toBe(3);
      const running = page.locator('.in-flight');
      expect(await running.textContent()).toMatch(
        /STAGING.*in flight.*changed .*This service is writing it now\./su,
      );
      const left = page.locator('.attempts li').filter({ hasText: demoId(31) });
      expect(await left.textContent()).toMatch(
        /STAGING.*48 kB.*changed .*No completion marker.*For the snapshot/su,
      );
      upload.destroy();
      await expect
        .poll(async () => {
          await page.getByRole('button', { name: 'Look again' }).click();
          return page.locator('.summary').textContent();
        })
        .toContain('none in flight');
    });

    async function example() {
      const { metadataOf } = await import('../support/example.ts');
      return metadataOf(idOf(77));
    }

    describe('Publishing by hand', () => {
      const npy = (): Buffer => {
        const text = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }".padEnd(117) + '\n';
        const head = Buffer.concat([Buffer.from('\x93NUMPY\x01\0', 'latin1'), Buffer.from([text.length, 0])]);
        return Buffer.concat([
          head,
          Buffer.from(text),
          Buffer.from(new BigInt64Array([1n, -2n, 2n ** 62n]).buffer),
        ]);
      };

      test('shows what is wrong beside each field, then publishes exactly the bytes of the files', async () => {
        const { url, root } = await appForTest();
        const { page, requests } = await openPage(browser, `${url}/#/publish`);
        const id = await page.getByLabel('Id', { exact: true }).inputValue();
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        const namespace = page.getByLabel('Source namespace');
        await expect.poll(() => namespace.getAttribute('aria-invalid')).toBe('true');
        const why = await namespace.getAttribute('aria-describedby');
        expect(await page.locator(`[id="${why!}"]`).textContent()).toMatch(/empty/u);
        expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
        for (const label of ['Source namespace', 'Source version', 'Scope', 'Consistency']) {
          await page.getByLabel(label).fill(`a ${label}`);
        }
        await page.getByLabel('Expected records').fill('3');
        await page.getByLabel('Returned records').fill('3');
        await page.getByLabel('Declared context').selectOption('example-context');
        await page.getByLabel('Files').setInputFiles([
          { name: 'array-ids.npy', mimeType: '', buffer: npy() },
          { name: 'Flags.dat', mimeType: '', buffer: Buffer.from([1, 0, 1]) },
        ]);
        const flags = page.getByRole('group', { name: 'Array flags' });
        await flags.getByLabel('Type').selectOption('int16');
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await expect.poll(() => flags.locator('.why').textContent()).toContain('whole elements of 2 bytes');
        await flags.getByLabel('Type').selectOption('uint8');
        expect(await page.getByRole('group', { name: 'Array ids' }).textContent()).toContain(
          'int64, of its header',
        );
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await heading(page, 'Published').waitFor();
        expect(fs.readFileSync(packagePath(root, id, 'array-ids.bin')).equals(npy().subarray(128))).toBe(
          true,
        );
        expect([...fs.readFileSync(packagePath(root, id, 'array-flags.bin'))]).toEqual([1, 0, 1]);
        await page.getByRole('link', { name: 'Open it' }).click();
        await page.getByRole('article', { name: 'flags' }).waitFor();
      });

      test('shows what the service alone can know beside the field, and leads to what is there already', async () => {
        const { page } = await openPage(browser, at(`#/publish?parent=${'f'.repeat(32)}`));
        const manifest = packagePath(service.root, demo.unavailable, 'manifest.json');
        await page.getByLabel(/Fill in/u).setInputFiles(manifest);
        await page.getByLabel('Source version').waitFor();
        await expect
          .poll(() => page.getByLabel('Failure reasons').inputValue())
          .toBe('the source refused the connection');
        await page.getByLabel('Parent').fill('e'.repeat(32));
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await expect
          .poll(() => page.getByRole('alert').textContent())
          .toMatch(/snapshot_exists|parent_not_complete/u);
        await page.getByLabel('Parent').fill('');
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await page.getByRole('link', { name: `Open the snapshot ${demo.unavailable}` }).click();
        await heading(page, 'Snapshot').waitFor();
      });

      test('tells how far it is, and can be cancelled', async () => {
        const { url, root } = await appForTest();
        const { page } = await openPage(browser, `${url}/#/publish`);
        await page
          .getByLabel(/Fill in/u)
          .setInputFiles(packagePath(service.root, demo.line[0]!, 'manifest.json'));
        await expect.poll(() => page.getByLabel('Source version').inputValue()).toBe('2026-01');
        await page
          .getByLabel('Files')
          .setInputFiles([{ name: 'many.bin', mimeType: '', buffer: Buffer.alloc(8_000_000) }]);
        await page.getByRole('group', { name: 'Array many' }).getByLabel('Type').selectOption('uint8');
        const session = await page.context().newCDPSession(page);
        await session.send('Network.enable');
        await session.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput: 400_000,
        });
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await expect
          .poll(() => page.locator('.progress').textContent())
          .toMatch(/Sending: \d+ kB of 8\.0 MB/u);
        await page.getByRole('button', { name: 'Cancel' }).click();
        await expect.poll(() => page.getByRole('alert').textContent()).toContain('It was cancelled');
        expect(fs.readdirSync(`${root}/snapshots`)).toEqual([]);
      });

      test('is not offered as possible by a service that is read-only', async () => {
        const readOnly = await appForTest({ root: service.root, settings: { readOnly: true } });
        const { page } = await openPage(browser, `${readOnly.url}/#/publish`);
        await page.getByText('This service is read-only').waitFor();
      });
    });

    test('A token is asked for, kept for the tab alone, used for everything, and forgotten', async () => {
      const guarded = await appForTest({ root: service.root, settings: { token: 'let-me-in' } });
      const { page } = await openPage(browser, guarded.url);
      await page.getByLabel(/^Token/u).fill('wrong');
      await page.getByRole('button', { name: 'Use it' }).click();
      await expect
        .poll(() => page.getByRole('alert').textContent())
        .toContain('not one that this service was given');
      await page.getByLabel(/^Token/u).fill('let-me-in');
      await page.getByRole('button', { name: 'Use it' }).click();
      await expect.poll(() => rows(page).count()).toBe(11);
      await page.reload();
      await expect.poll(() => rows(page).count()).toBe(11);
      expect(await page.evaluate('[localStorage.length, document.cookie, sessionStorage.length]')).toEqual([
        0,
        '',
        1,
      ]);
      await page.goto(`${guarded.url}/#/snapshots/${demo.line[0]!}`);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: '.bin' }).first().click(),
      ]);
      const stored = packagePath(service.root, demo.line[0]!, download.suggestedFilename());
      expect(fs.readFileSync(await download.path()).equals(fs.readFileSync(stored))).toBe(true);
      expect(await page.locator('.lines pre').first().textContent()).toContain('Bearer $SNAPSHOTS_TOKEN');
      const other = await page.context().newPage();
      await other.goto(guarded.url);
      await other.getByLabel(/^Token/u).waitFor();
      await page.getByRole('button', { name: 'Forget the token' }).click();
      await page.getByLabel(/^Token/u).waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    });

    test('Every view survives a reload under a base path, and so does the way back', async () => {
      const behind = await appForTest({ root: service.root, settings: { basePath: '/behind' } });
      const { page, requests } = await openPage(browser, `${behind.url}/`);
      const views = [
        ['#/', 'Store'],
        [`#/snapshots/${demo.line[1]!}`, 'Snapshot'],
        [`#/snapshots/${demo.line[1]!}/lineage`, 'Lineage'],
        [`#/snapshots/${demo.line[0]!}/compare/${demo.line[1]!}`, 'Difference'],
        ['#/incomplete', 'Incomplete attempts'],
        ['#/publish', 'Publish'],
        ['#/nowhere', 'Nothing is at this address'],
      ] as const;
      for (const [hash, name] of views) {
        await page.goto(`${behind.url}/${hash}`);
        await heading(page, name).waitFor();
        await page.reload();
        await heading(page, name).waitFor();
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        const mayFail = name.startsWith('Nothing');
        expect(await page.getByRole('alert').count(), name).toBe(
          mayFail ? await page.getByRole('alert').count() : 0,
        );
      }
      await page.goBack();
      await heading(page, 'Publish').waitFor();
      for (const request of requests) expect(request).toMatch(/^[A-Z]+ \/behind\//u);
    });

    test('A service that is gone is told as such, and asked again by hand', async () => {
      const leaving = await startApp({ root: service.root });
      const { page } = await openPage(browser, leaving.url);
      await expect.poll(() => rows(page).count()).toBe(11);
      await leaving.close();
      await page.getByRole('link', { name: 'Incomplete' }).click();
      await expect.poll(() => page.getByRole('alert').textContent()).toContain('The service does not answer');
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    });

    describe.each([
      ['light', {}, undefined],
      // Only colours are others.
      ['dark', { colorScheme: 'dark' }, ['color-contrast']],
      ['on a phone', { viewport: { width: 360, height: 740 }, hasTouch: true }, undefined],
    ] as const)('In %s', (_, options, rules) => {
      test('axe finds nothing serious in any view, and nothing reaches beyond the window', async () => {
        const { page } = await openPage(browser, service.url, options);
        for (const hash of [
          '#/',
          `#/snapshots/${demo.partial}`,
          `#/snapshots/${demo.unavailable}`,
          `#/snapshots/${demo.damaged}`,
          `#/snapshots/${demo.line[3]!}/lineage`,
          `#/snapshots/${demo.line[4]!}/compare/${demo.partial}`,
          `#/snapshots/${demo.line[4]!}/compare/${demo.line[5]!}?key=ids`,
          '#/incomplete',
          '#/publish',
          '#/nowhere',
        ]) {
          await page.goto(at(hash));
          await expect.poll(() => page.locator('.loading').count()).toBe(0);
          if (hash === '#/publish') {
            await page.getByRole('button', { name: 'Publish', exact: true }).click();
            await page.getByRole('alert').waitFor();
          }
          expect(await seriousFindings(page, rules), hash).toEqual([]);
          expect(await isTooWide(page), hash).toBe(false);
        }
      });
    });

    test('The keyboard alone leads through the store to a snapshot, its lineage, and back', async () => {
      const { page } = await openPage(browser, service.url);
      await expect.poll(() => rows(page).count()).toBe(11);
      const focused = () =>
        page.evaluate<{ tag: string; text: string; isSeen: boolean }>(`(() => {
        const { activeElement: one } = document;
        const { width, height, right, bottom } = one.getBoundingClientRect();
        const { outlineStyle } = getComputedStyle(one);
        const isSeen = one === document.body || one.matches('h1, main') || (width > 0 && height > 0 && right > 0 && bottom > 0 && outlineStyle !== 'none');
        return { tag: one.tagName + ' ' + (one.type ?? ''), text: (one.getAttribute('aria-label') ?? one.textContent).trim(), isSeen };
      })()`);
      const tabTo = async (text: string): Promise<void> => {
        for (let steps = 0; steps < 60; steps += 1) {
          await page.keyboard.press('Tab');
          const now = await focused();
          expect(now).toEqual({ ...now, isSeen: true });
          if (now.text === text) return;
        }
        throw new Error(`No ${text} among the stops of the keyboard.`);
      };
      await tabTo('Skip to the content');
      await page.keyboard.press('Enter');
      await tabTo(demo.line[5]!);
      await page.keyboard.press('Enter');
      await heading(page, 'Snapshot').waitFor();
      expect((await focused()).text).toBe('Snapshot');
      await expect.poll(() => page.locator('.coverage').count()).toBe(1);
      await tabTo('Lineage');
      await page.keyboard.press('Enter');
      await heading(page, 'Lineage').waitFor();
      expect((await focused()).text).toBe('Lineage');
      // A key of the browser itself, which has no window here.
      await page.goBack();
      await heading(page, 'Snapshot').waitFor();
      await expect.poll(() => page.locator('.coverage').count()).toBe(1);
      await tabTo('Compare with …');
      await page.keyboard.press('Enter');
      await page.keyboard.type(demo.line[2]!);
      await page.keyboard.press('Enter');
      await heading(page, 'Difference').waitFor();
    });
  },
);
