/** Subjects: search, override, upload and offboarding. */
import { describe, expect } from 'vitest'
import { takeScreenshot } from '../page-session.ts'
import { anton, at, base, browserTest, clara, noProblems, pageHeading } from './setup.ts'

describe('subjects', () => {
  browserTest('can be found, and their rating overridden', async () => {
    const { page, seen, close } = await at(clara, '/subjects?name=lovel')
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await pageHeading(page, 'Ada Lovelace').waitFor()
    await page.getByRole('img', { name: /Score over time/ }).waitFor()
    await page.getByRole('button', { name: 'Override' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Band' }).click()
    await page.getByRole('option', { name: 'high' }).click()
    await dialog.getByLabel('Reason for the override').fill('Known from another case.')
    await dialog.getByRole('button', { name: 'Override' }).click()
    await page.getByRole('main').getByText('Override in force').waitFor()
    await page.getByRole('group', { name: 'Reasons of the rating' }).waitFor()
    await page.getByRole('table', { name: 'Ratings, newest first' }).getByText('override', { exact: true }).waitFor()
    await takeScreenshot(page, 'decisions-subject')

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('lovelace')
    const found = page.getByRole('group', { name: 'Subjects' }).getByRole('option', { name: /Ada Lovelace/ })
    await found.waitFor()
    expect(await found.first().innerText()).toMatch(/Person, .*rated high/)
    // Up from the first option is the last one, which opens all results.
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await pageHeading(page, 'Search').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('lovelace')
    await page.locator('label', { hasText: 'Decisions' }).click()
    await page.getByRole('region', { name: 'Subjects' }).waitFor({ state: 'detached' })
    await page
      .getByRole('region', { name: 'Decisions' })
      .getByRole('link', { name: /Ada Lovelace/ })
      .first()
      .click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(page.url()).toContain('/evaluations/')
    await page.keyboard.press('Control+k')
    await page
      .getByRole('group', { name: 'Opened before' })
      .getByRole('option', { name: /Ada Lovelace/ })
      .waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be uploaded from a file, with rejected rows listed', async () => {
    const rows = ['external_id,subject_type,name,residence_country']
    rows.push('B-1,person,Lise Meitner,AT', 'B-2,planet,Pluto,XX', 'B-3,company,Analytical Engines,GB')
    const { page, seen, close } = await at(anton, '/subjects')
    await page.getByRole('link', { name: 'Upload a file' }).click()
    await pageHeading(page, 'Upload subjects').waitFor()
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) }
    await page.getByLabel('File with one subject per row').setInputFiles(file)
    await page.getByText('people.csv uploaded').waitFor()
    // Named a second time, as read by no matrix, until the inputs of all matrices are loaded.
    const columns = page.getByRole('region', { name: 'How the columns are read' })
    await columns.getByText('residence_country').first().waitFor()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await pageHeading(page, 'Upload: people.csv').waitFor()
    const counts = page.getByRole('status', { name: 'Result of the upload' })
    await expect
      .poll(async () => (await counts.innerText()).replaceAll(/\s+/g, ' '))
      .toBe('3 rows 2 created 0 updated 0 unchanged 1 rejected')
    const rejected = page.getByRole('table', { name: 'Rejected rows' })
    await rejected.getByText('/subject_type').waitFor()
    await page.getByText('stored in part').waitFor()
    expect(await rejected.getByRole('row').nth(1).innerText()).toMatch(/row 2/)
    await takeScreenshot(page, 'decisions-upload')
    await page.goto(`${base}/subjects?external_id=B-1`)
    await page.getByRole('link', { name: 'Lise Meitner' }).click()
    await page.getByRole('region', { name: 'Details' }).getByText('AT · Austria').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Delivery channel' }).click()
    await page.getByRole('option', { name: /^branch/ }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('region', { name: 'Details' })
      .getByText(/^branch/)
      .waitFor()
    await page.goto(`${base}/subjects?band=Hi`)
    await page.getByRole('alert').getByText('There is no band “Hi”').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be offboarded with a reason', async () => {
    const { page, seen, close } = await at(clara, '/subjects?name=zuse')
    await page.getByRole('link', { name: 'Konrad Zuse' }).click()
    await page.getByRole('button', { name: 'Offboard' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('The account was closed.')
    await dialog.getByRole('button', { name: 'Offboard' }).click()
    await page.getByRole('region', { name: 'Details' }).getByText('The account was closed.').waitFor()
    await page.getByRole('button', { name: 'Offboard' }).waitFor({ state: 'detached' })
    expect(seen).toEqual(noProblems)
    await close()
  })
})
