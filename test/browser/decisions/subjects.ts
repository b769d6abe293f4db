/** A subject: found by name, its ratings along time, and an override with a reason and an end. */
import { describe, expect } from 'vitest'
import { shot } from '../visitor.ts'
import { at, clara, clean, heading, inBrowser } from './stage.ts'

describe('subjects', () => {
  inBrowser('are found, and their rating is overridden until a date', async () => {
    const { page, seen, close } = await at(clara, '/subjects?name=lovel')
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await heading(page, 'Ada Lovelace').waitFor()
    await page.getByRole('img', { name: /Score over time/ }).waitFor()
    await page.getByRole('button', { name: 'Override' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Band' }).click()
    await page.getByRole('option', { name: 'high' }).click()
    await dialog.getByLabel('Why the rating is not what the matrix says').fill('Known from another case.')
    await dialog.getByRole('button', { name: 'Override' }).click()
    await page.getByText('An override is in force').waitFor()
    await page.getByRole('table', { name: 'Ratings, newest first' }).getByText('override', { exact: true }).waitFor()
    await shot(page, 'decisions-subject')
    expect(seen).toEqual(clean)
    await close()
  })
})
