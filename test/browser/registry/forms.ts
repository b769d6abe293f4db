/** Forms of the registry: list settings, types, upload progress, delta files and guard overrides. */
import { describe, expect } from 'vitest'
import { getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import {
  at,
  base,
  browserTest,
  buildNdjsonFile,
  buildRating,
  chooseFile,
  clara,
  dropFile,
  noProblems,
  openPreview,
  pageHeading,
  petra,
  w,
} from './setup.ts'

const register = async (list_key: string, more: object = {}): Promise<void> => {
  const body = { list_key, type_key: 'country-score', title: `List ${list_key}`, ...more }
  const { status } = await w.call('POST /reference-data/datasets', { token: petra, body })
  expect(status).toBe(201)
}

const buildXmlFile = (text: string) => ({
  name: 'un-list.xml',
  mimeType: 'application/xml',
  buffer: Buffer.from(text),
})

/** A list in the layout of the UN Security Council with one party on each line. */
function buildUnList(parties: number): string {
  const entries = Array.from(
    { length: parties },
    (_, at) =>
      `<INDIVIDUAL><DATAID>${6_900_000 + at}</DATAID><FIRST_NAME>GIVEN</FIRST_NAME><SECOND_NAME>FAMILY ${at}</SECOND_NAME>` +
      '<UN_LIST_TYPE>DPRK</UN_LIST_TYPE><REFERENCE_NUMBER>KPi.033</REFERENCE_NUMBER><LISTED_ON>2016-11-30</LISTED_ON>' +
      '<COMMENTS1>Director of an office for trade, named in the report of the panel.</COMMENTS1></INDIVIDUAL>\n',
  )
  const head =
    '<?xml version="1.0" encoding="UTF-8"?>\n<CONSOLIDATED_LIST dateGenerated="2018-06-07T19:03:43.97-04:00">\n'
  return `${head}<INDIVIDUALS>\n${entries.join('')}</INDIVIDUALS>\n</CONSOLIDATED_LIST>\n`
}

describe('list settings', () => {
  browserTest('can be edited, report concurrent changes, and archive the list', async () => {
    await register('kept', { guards: { max_removed_bps: 1250, min_filled_bps: { '/country': 9900 } } })
    const { page, seen, close } = await at(petra, '/datasets/kept')
    const open = async (item: 'Settings' | 'Archive') => {
      await page.getByRole('button', { name: /^More actions for/ }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await open('Settings')
    const dialog = page.getByRole('dialog', { name: 'Settings of List kept' })
    await expect.poll(() => dialog.getByLabel('Maximum share of removed entries').inputValue()).toBe('12.5 %')
    await dialog.getByLabel('Title').fill('Kept with care')
    await dialog.getByLabel('Owner').fill('Risk policy')
    await dialog.getByLabel('Review interval in days').fill('90')
    await dialog.getByLabel('Minimum number of entries').fill('3')
    await dialog.getByLabel('Required fill rates').fill('/country 99\n/score')
    await dialog.getByText('“/score” is not a field and a percentage').waitFor()
    await takeScreenshot(page, 'registry-settings')
    await dialog.getByLabel('Required fill rates').fill('/country 99\n/score 50')
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Save settings' }).click()
    await pageHeading(page, 'Kept with care').waitFor()
    const { json } = await w.call('GET /reference-data/datasets/kept', { token: petra })
    expect(json).toMatchObject({ owner: 'Risk policy', review_every_days: 90 })
    expect(json.guards).toEqual({
      min_entries: 3,
      max_removed_bps: 1250,
      min_filled_bps: { '/country': 9900, '/score': 5000 },
    })
    expect(seen).toEqual(noProblems)

    await open('Settings')
    const again = page.getByRole('dialog', { name: 'Settings of Kept with care' })
    await again.getByLabel('Owner').waitFor()
    const change = { owner: 'Somebody else' }
    await w.call('PATCH /reference-data/datasets/kept', { token: petra, body: change })
    await again.getByLabel('Owner').fill('Too late')
    await again.getByRole('button', { name: 'Save settings' }).click()
    await again.getByRole('alert').getByText('Changed by someone else').waitFor()
    await again.getByRole('button', { name: 'Reload' }).click()
    await expect.poll(() => again.getByLabel('Owner').inputValue()).toBe('Somebody else')
    await page.setViewportSize(PHONE)
    await expect.poll(() => getOverflow(page)).toBe(0)
    await takeScreenshot(page, 'registry-settings-390')
    await page.keyboard.press('Escape')

    await open('Archive')
    const asked = page.getByRole('dialog', { name: 'Archive Kept with care?' })
    await asked.getByText('All versions remain readable').waitFor()
    await takeScreenshot(page, 'registry-archive')
    await asked.getByRole('button', { name: 'Archive list' }).click()
    await page.getByText('archived', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^More actions for/ }).count()).toBe(0)
    await close()
  })
})

describe('a type', () => {
  browserTest(
    'is created with errors at their position, and reports incompatible data for its next version',
    async () => {
      const { page, seen, close } = await at(petra, '/types')
      await page.getByRole('link', { name: 'New type' }).click()
      await pageHeading(page, 'New type').waitFor()
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('own-rating')
      await page.getByLabel('Title').fill('Own rating')
      await page.getByLabel('Description').fill('What we hold of a country.')
      const schema = page.getByLabel('Entry schema')
      const good = await schema.inputValue()
      await schema.fill('{ "type": ')
      await page.getByText('This is not valid JSON.').waitFor()
      await schema.fill(good.replace('"string"', '"strong"'))
      await page.getByRole('button', { name: 'Create type' }).click()
      const faults = page.getByRole('list', { name: 'Errors in Entry schema' })
      const where = faults.getByRole('listitem').filter({ hasText: '/properties/code/type' }).first()
      await where.getByRole('button', { name: 'Line 5' }).focus()
      await takeScreenshot(page, 'registry-type-faults')
      await page.keyboard.press('Enter')
      const selected = () => page.evaluate('getSelection().toString()')
      await expect.poll(selected).toBe('"strong"')
      await page.keyboard.type('"string"')
      await page.setViewportSize(PHONE)
      await expect.poll(() => getOverflow(page)).toBe(0)
      await takeScreenshot(page, 'registry-type-form-390')
      await page.getByRole('button', { name: 'Create type' }).click()
      await pageHeading(page, 'Own rating').waitFor()
      expect(seen.failed.map((answer) => answer.slice(0, 3))).toEqual(['409'])

      await register('own-rated', { type_key: 'own-rating' })
      const of = '/reference-data/datasets/own-rated'
      await w.call(`POST ${of}/versions`, { token: petra, body: { data: [{ code: 'A1', name: 'First' }] } })
      const order = { version: 1, reason: 'first' }
      expect((await w.call(`POST ${of}/activations`, { token: clara, body: order })).status).toBe(201)
      await page.getByRole('link', { name: 'New version' }).click()
      await pageHeading(page, 'Version 2 of Own rating').waitFor()
      await page.getByLabel('Entry schema').fill(good.replace('200', '3'))
      await page.getByLabel('Examples').fill('[{ "code": "A1", "name": "abc" }]')
      await page.getByRole('button', { name: 'Publish version' }).click()
      const broken = page.getByRole('table', { name: 'Incompatible data' })
      await broken.getByText('own-rated, version 1').scrollIntoViewIfNeeded()
      await takeScreenshot(page, 'registry-type-breaks')
      await page.getByLabel('Publish even if data in force is incompatible').check()
      await page.getByRole('button', { name: 'Publish version' }).click()
      await pageHeading(page, 'Own rating').waitFor()
      await page.getByText('2, incompatible with the previous version').waitFor()
      expect(seen.errors).toEqual([])
      await close()
    },
  )
})

describe('an import', () => {
  browserTest('shows the progress of the upload', async () => {
    await register('slow')
    const { page, context, seen, close } = await at(petra, '/imports/new?list=slow')
    await page.getByText('Drop a file here').waitFor()
    const line = await context.newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 50_000 }
    await line.send('Network.emulateNetworkConditions', slow)
    await chooseFile(page, buildNdjsonFile(...Array.from({ length: 6000 }, (_, score) => buildRating('DE', score))))
    const bar = page.getByRole('progressbar', { name: 'Upload progress' })
    const part = async () => Number(await bar.getAttribute('aria-valuenow'))
    await expect.poll(part).toSatisfy((percent) => percent > 0 && percent < 100)
    await takeScreenshot(page, 'registry-upload')
    await line.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })
    await page.getByText('ratings.ndjson uploaded').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('goes from a file to a new list in force in one flow', async () => {
    const maker = await at(petra, '/imports/new')
    const { page } = maker
    const buffer = Buffer.from('Country;Score;Name;Comment\nDE;90;Germany;x\nFR;80;France;y\n')
    await chooseFile(page, { name: 'Country scores_2026.csv', mimeType: 'text/csv', buffer })
    await page.getByText(/3 of 4 columns match the type Country score, 2 of 2 entries read/).waitFor()
    await page.getByText('2 rows read: 2 accepted, 0 rejected').waitFor()
    await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('country-scores')
    await takeScreenshot(page, 'registry-file-first')
    await page.setViewportSize(PHONE)
    await expect.poll(() => getOverflow(page)).toBe(0)
    await takeScreenshot(page, 'registry-file-first-390')
    await page.getByLabel('Title of the list').fill('Länderrisiken')
    await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('landerrisiken')
    await page.getByLabel('Title of the list').fill('Scores of countries')
    await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('scores-of-countries')
    await page.getByRole('button', { name: 'Create list and import' }).click()
    await page.getByText('Version 1 published').waitFor()
    await page.getByRole('button', { name: 'Request activation' }).click()
    const requested = page.getByRole('dialog')
    await requested.getByText('No version is in force yet: all 2 entries of version 1').waitFor()
    await requested.getByLabel('Reason').fill('First version')
    await requested.getByRole('button', { name: 'Request activation' }).click()
    const imported = new URL(page.url()).pathname
    await requested.getByRole('link', { name: 'Open the change request' }).click()
    const first = page.getByRole('list', { name: 'First entries' })
    await first.getByText('Germany').waitFor()
    await expect.poll(() => first.getByRole('listitem').count()).toBe(2)
    await page.getByRole('link', { name: 'All entries of version 1' }).waitFor()
    await takeScreenshot(page, 'registry-first-version-requested')
    const request = new URL(page.url()).pathname
    await page.goto(`${base}/datasets/scores-of-countries`)
    await page.getByRole('button', { name: 'More actions for Scores of countries' }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    const archive = page.getByRole('dialog', { name: 'Archive Scores of countries?' })
    await archive.getByText(/^A change request waits for approval\./).waitFor()
    await archive.getByRole('link', { name: 'Put version 1 of Scores of countries in force' }).waitFor()
    await page.goto(`${base}${request}`)
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('withdrawn', { exact: true }).waitFor()
    expect(maker.seen).toEqual(noProblems)
    await maker.close()

    const officer = await at(clara, imported)
    await officer.page.getByRole('button', { name: 'Put in force' }).click()
    const dialog = officer.page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('First version')
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await officer.page.getByText('It is in force.').waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })

  browserTest('keeps the page when the whole file turns out to be cut off', async () => {
    const { page, seen, close } = await at(petra, '/imports/new')
    const whole = buildUnList(400)
    // Behind the part that is read for the detection.
    await chooseFile(page, buildXmlFile(whole.slice(0, 90_000)))
    await page.getByRole('radio', { name: /^UN Security Council/ }).waitFor()
    const reading = page.getByRole('region', { name: '2. What the file holds' })
    const fault = reading.getByRole('alert')
    await fault.getByText('The file was cut off').waitFor()
    await fault.getByText(/^It ends at line \d+, before the list is complete\./).waitFor()
    await takeScreenshot(page, 'registry-file-cut-off')
    await expect.poll(() => page.getByRole('button', { name: 'Create list and import' }).count()).toBe(0)
    expect(seen.failed.map((answer) => answer.slice(0, 3))).toEqual(['409'])

    await dropFile(page, buildXmlFile(whole))
    await page.getByText('400 rows read: 400 accepted, 0 rejected').waitFor()
    await expect.poll(() => fault.count()).toBe(0)
    await page.getByRole('button', { name: 'Create list and import' }).waitFor()
    await close()
  })

  browserTest('reads the next file of a list as detected, unless a person chooses', async () => {
    await register('eu-list', { type_key: 'sanctioned-party' })
    const header = 'fileGenerationDate;Entity_LogicalId;Entity_EU_ReferenceNumber;Entity_Remark;Entity_SubjectType;'
    const names = 'Entity_Regulation_NumberTitle;Entity_Regulation_Programme;NameAlias_LastName;NameAlias_FirstName;'
    const row = '22/09/2026;13;EU.27.28;;P;1210/2003 (OJ L169);IRQ;Al-Tikriti;Saddam;Saddam Al-Tikriti;;\n'
    const text = `${header}${names}NameAlias_WholeName;BirthDate_BirthDate;Citizenship_CountryIso2Code\n${row}`
    const file = { name: '20260922-FULL-1_0.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
    const { page, seen, close } = await at(petra, '/imports/new?list=eu-list')
    await chooseFile(page, file)
    await page.getByRole('button', { name: 'Start import' }).click()
    await page.getByText('Version 1 published').waitFor()

    await page.goto(`${base}/imports/new?list=eu-list`)
    const adapter = page.getByRole('combobox', { name: 'Adapter' })
    await adapter.click()
    await adapter.fill('open')
    await chooseFile(page, { ...file, buffer: Buffer.from(text + row.replaceAll('13', '14').replaceAll('28', '29')) })
    await page.getByText(/as in the last import of this list, 2 of 2 entries read/).waitFor()
    await expect.poll(() => adapter.inputValue()).toBe('open')
    await page.keyboard.press('Escape')
    await expect.poll(() => adapter.inputValue()).toMatch(/^EU consolidated/)
    await page.getByRole('button', { name: 'Start import' }).click()
    await page.getByText('Version 2 published').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('applies a delta file to the newest version', async () => {
    await register('changing')
    const data = [buildRating('DE', 90), buildRating('FR', 80)]
    await w.call('POST /reference-data/datasets/changing/versions', { token: petra, body: { data } })
    const { page, seen, close } = await at(petra, '/imports/new')
    await chooseFile(
      page,
      buildNdjsonFile(buildRating('IT', 70), { country: 'FR', source: 'Bank', edition: '2026', action: 'D' }),
    )
    // Choosing the list afterwards keeps the file.
    await page.getByText('ratings.ndjson uploaded').waitFor()
    await page.getByPlaceholder('A new list').fill('changing')
    await page.getByRole('option', { name: /\(changing\)/ }).click()
    await page.getByText('ratings.ndjson uploaded').waitFor()
    await page.getByText('Changes only').click()
    await page.getByText('All other entries are taken from version 1').waitFor()
    await page.getByLabel('Field that marks removed rows').fill('action')
    await page.getByLabel('Values that mean removed').first().fill('D')
    await page.keyboard.press('Enter')
    await openPreview(page)
    await page.getByText('Changes to version 1: 1 added, 0 changed, 1 removed, 1 unchanged.').waitFor()
    await takeScreenshot(page, 'registry-changes')
    await page.getByRole('button', { name: 'Start import' }).click()
    await page.getByText('Version 2 published').waitFor()
    const { json } = await w.call('GET /reference-data/datasets/changing/versions/2', { token: petra })
    expect(json).toMatchObject({ delta_base_version: 1, entry_count: 2 })
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be repeated by another user with a guard override', async () => {
    await register('guarded', { guards: { min_entries: 5 } })
    const maker = await at(petra, '/imports/new?list=guarded')
    await chooseFile(maker.page, buildNdjsonFile(buildRating('DE', 90), buildRating('FR', 80)))
    await maker.page.getByLabel('Label of the new version').fill('2026-q1')
    await maker.page.getByRole('button', { name: 'Start import' }).click()
    await maker.page.getByText('Stopped by a guard').waitFor()
    await maker.page.getByText('a compliance officer can override the guards').waitFor()
    const place = new URL(maker.page.url()).pathname
    await maker.close()

    const { page, seen, close } = await at(clara, place)
    await page.getByLabel('Reason for the override').fill('Only two countries are rated this year')
    await takeScreenshot(page, 'registry-override')
    await page.getByRole('button', { name: 'Override guards and import' }).click()
    await page.getByText('Version 1 published').waitFor()
    const { json } = await w.call('GET /reference-data/datasets/guarded/versions/1', { token: clara })
    expect(json).toMatchObject({ label: '2026-q1', entry_count: 2 })
    expect(seen).toEqual(noProblems)
    await close()
  })
})
