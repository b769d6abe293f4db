/** The people of the registry's tests, and files to import. What it exports is there once `beforeAll` has run. */
import type { Page } from 'playwright-core'
import { openStage, tokenOf } from '../stage.ts'

export { at, base, clean, heading, inBrowser, w } from '../stage.ts'

export let petra: string
export let clara: string
export let vera: string

openStage({
  prepare: async () => {
    petra = await tokenOf('Petra Policy', 'policy_editor')
    clara = await tokenOf('Clara Compliance', 'compliance_officer')
    vera = await tokenOf('Vera Viewer', 'viewer')
  },
})

export const rated = (country: string, score: number) => ({ country, score, source: 'Bank', edition: '2026' })
export const lines = (...entries: readonly object[]) => ({
  name: 'ratings.ndjson',
  mimeType: 'application/x-ndjson',
  buffer: Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
})

export const choose = (page: Page, file: ReturnType<typeof lines>) =>
  page.getByLabel('File to import').setInputFiles(file)

/** As if it were dragged from the desktop. */
export async function drop(page: Page, { name, buffer }: ReturnType<typeof lines>): Promise<void> {
  const text = JSON.stringify(buffer.toString())
  const dataTransfer = await page.evaluateHandle(
    `(() => { const all = new DataTransfer(); all.items.add(new File([${text}], '${name}')); return all })()`,
  )
  await page.getByLabel('Drop a file here').dispatchEvent('drop', { dataTransfer })
}

export async function preview(page: Page): Promise<void> {
  await page.getByText('ratings.ndjson is here').waitFor()
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.getByText(/rows? read:/).waitFor()
}
