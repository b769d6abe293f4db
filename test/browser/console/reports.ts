/** Reports: an officer requests a dossier, previews it, downloads it and has it made again. */
import { describe, expect } from 'vitest'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { at, browserTest, createPerson, noProblems, pageHeading, w } from './setup.ts'

describe('a report', () => {
  browserTest('is requested, previewed in a frame without scripts, downloaded and verified', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const officer = await at(clara, '/reports')
    const { page } = officer
    await page.getByText('No reports').waitFor()
    await page.getByRole('button', { name: 'Request a report' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Request a report' })
    await dialog.getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: 'Programme overview' }).click()
    await dialog.getByLabel('Days').fill('30')
    await takeScreenshot(page, 'console-report-new')
    await dialog.getByRole('button', { name: 'Request', exact: true }).click()

    await pageHeading(page, /^Programme overview/).waitFor()
    const files = page.getByRole('table', { name: 'Files of the report' })
    await files.getByText('PDF', { exact: true }).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Preview' }).click()
    const frame = page.frameLocator('iframe[title="Preview of the report"]')
    await frame.getByRole('heading', { name: 'How to verify this report' }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download PDF' }).click()
    expect((await download).suggestedFilename()).toMatch(/^programme-overview-.*\.pdf$/)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Identical: the same bytes were made again').waitFor({ timeout: 60_000 })
    await expectFitsScreens(page, 'console-report')
    await page.goto(new URL('/reports', page.url()).href)
    await page.getByRole('table', { name: 'Reports', exact: true }).getByText('ready').waitFor()
    await takeScreenshot(page, 'console-reports')
    expect(officer.seen.errors).toEqual(noProblems.errors)
    await officer.close()
  })
})
