/** Users and files of the registry tests. Exports are set after `beforeAll`. */
import type { Page } from 'playwright-core'
import { createPersonToken, setUpBrowserTests } from '../setup.ts'

export { at, base, browserTest, noProblems, pageHeading, w } from '../setup.ts'

export let petra: string
export let clara: string
export let vera: string

setUpBrowserTests({
  prepare: async () => {
    petra = await createPersonToken('Petra Policy', 'policy_editor')
    clara = await createPersonToken('Clara Compliance', 'compliance_officer')
    vera = await createPersonToken('Vera Viewer', 'viewer')
  },
})

export const buildRating = (country: string, score: number) => ({ country, score, source: 'Bank', edition: '2026' })
export const buildNdjsonFile = (...entries: readonly object[]) => ({
  name: 'ratings.ndjson',
  mimeType: 'application/x-ndjson',
  buffer: Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
})

export const chooseFile = (page: Page, file: ReturnType<typeof buildNdjsonFile>) =>
  page.getByLabel('File to import').setInputFiles(file)

/** As if it were dragged from the desktop. */
export async function dropFile(page: Page, { name, buffer }: ReturnType<typeof buildNdjsonFile>): Promise<void> {
  const text = JSON.stringify(buffer.toString())
  const dataTransfer = await page.evaluateHandle(
    `(() => { const all = new DataTransfer(); all.items.add(new File([${text}], '${name}')); return all })()`,
  )
  await page.getByLabel('Drop a file here').dispatchEvent('drop', { dataTransfer })
}

export async function openPreview(page: Page): Promise<void> {
  await page.getByText('ratings.ndjson uploaded').waitFor()
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.getByText(/rows? read:/).waitFor()
}
