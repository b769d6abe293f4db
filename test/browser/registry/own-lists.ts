/** A list of the tenant from creation to rollback. */
import { describe, expect } from 'vitest'
import { takeScreenshot } from '../page-session.ts'
import {
  at,
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

describe('a list of this tenant', () => {
  browserTest('is registered, filled from files, put in force, resolved and rolled back', async () => {
    const maker = await at(petra, '/datasets')
    await maker.page.getByRole('button', { name: 'New list' }).click()
    const dialog = maker.page.getByRole('dialog', { name: 'New list' })
    await dialog.getByLabel('Title').fill('Own ratings')
    await dialog.getByLabel('Key').fill('own-ratings')
    await dialog.getByRole('combobox', { name: 'Type' }).fill('country-score')
    await maker.page.getByRole('option', { name: /\(country-score\)/ }).click()
    await dialog.getByRole('button', { name: 'Create list' }).click()
    await pageHeading(maker.page, 'Own ratings').waitFor()

    await maker.page.getByRole('link', { name: 'Import file' }).click()
    await chooseFile(maker.page, buildNdjsonFile(buildRating('DE', 90), { ...buildRating('FR', 80), score: 'eighty' }))
    await openPreview(maker.page)
    await maker.page.getByText('1 accepted, 1 rejected').waitFor()
    await maker.page.getByRole('table', { name: 'Rejected rows' }).getByText('row 2').waitFor()
    await takeScreenshot(maker.page, 'registry-preview')
    await maker.page.getByRole('button', { name: 'Start import' }).click()
    await maker.page.getByText('No version created').waitFor()
    await maker.page.getByRole('table', { name: 'Rejected rows' }).getByText('/score').waitFor()
    await takeScreenshot(maker.page, 'registry-rejects')
    const saved = maker.page.waitForEvent('download')
    await maker.page.getByRole('button', { name: 'Download rejected rows' }).click()
    expect((await saved).suggestedFilename()).toBe('own-ratings-rejects.ndjson')

    await maker.page.getByRole('link', { name: 'Import corrected file' }).click()
    await dropFile(maker.page, buildNdjsonFile(buildRating('DE', 90), buildRating('FR', 80)))
    await maker.page.getByRole('button', { name: 'Start import' }).click()
    await maker.page.getByText('Version 1 published').waitFor()
    expect(maker.seen).toEqual(noProblems)

    const data = [buildRating('DE', 95), buildRating('FR', 80), buildRating('NO', 99)]
    await w.call('POST /reference-data/datasets/own-ratings/versions', {
      token: petra,
      body: { data, label: '2026-q2' },
    })

    const checker = await at(clara, '/datasets/own-ratings')
    const { page } = checker
    const put = async (version: number, change: string) => {
      await page.getByRole('button', { name: `Put in force version ${version}` }).click()
      const asked = page.getByRole('dialog', { name: new RegExp(`Put in force: version ${version}`) })
      await asked.getByText(change).waitFor()
      await asked.getByLabel('Reason').fill('Approved by the committee')
      if (version === 2) await takeScreenshot(page, 'registry-put-in-force')
      await asked.getByRole('button', { name: 'Put in force' }).click()
      await page.getByText(`Version ${version} in force`).waitFor()
    }
    await put(1, 'No version is in force yet')
    await put(2, '1 changed')

    const resolves = async (version: number, score: string) => {
      await page.getByRole('link', { name: 'Resolve', exact: true }).click()
      await page.getByLabel('Key', { exact: true }).fill('DE')
      await page.getByRole('button', { name: 'Resolve' }).click()
      await page.getByRole('link', { name: new RegExp(`^version ${version}`) }).waitFor()
      await page.getByRole('region', { name: 'Entry DE' }).getByText(score, { exact: true }).waitFor()
      await page.goBack()
      await page.goBack()
      await pageHeading(page, 'Own ratings').waitFor()
    }
    await resolves(2, '95')
    await page.getByRole('button', { name: 'Roll back' }).click()
    const back = page.getByRole('dialog', { name: 'Roll back Own ratings' })
    await back.getByText('version 2 → version 1').waitFor()
    await back.getByText('1 removed').waitFor()
    await back.getByLabel('Reason').fill('The new scores were wrong')
    await takeScreenshot(page, 'registry-roll-back')
    await back.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Rolled back to version 1').waitFor()
    await resolves(1, '90')
    await page.getByRole('tab', { name: 'Activations' }).click()
    await page.getByRole('table', { name: 'Activations, newest first' }).getByText('rollback version 1').waitFor()
    expect(checker.seen).toEqual(noProblems)
    await Promise.all([maker.close(), checker.close()])
  })
})
