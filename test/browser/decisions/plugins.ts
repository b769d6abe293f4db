/** Plugins: from a broken upload to a version in force, and what is refused while a plugin is disabled. */
import { describe, expect } from 'vitest'
import { toJsonFile, zipFiles } from '#kernel/zip-files.ts'
import { createExamplePlugin } from '#test/support/example-plugin.ts'
import { buildPluginMatrix } from '#test/support/plugin-matrix.ts'
import { adapterPlugin } from '#test/support/plugins.ts'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { anton, at, base, browserTest, clara, createPersonToken, noProblems, pageHeading, petra, w } from './setup.ts'

const KEY = 'few-directors'

describe('a plugin', () => {
  browserTest('is uploaded with a fault, corrected at its place and put in force', async () => {
    const { page, seen, close } = await at(petra, '/plugins')
    await page.getByRole('link', { name: 'New plugin' }).first().click()
    await page.getByText('Manifest and source').click()
    await page.getByRole('button', { name: 'Start from an example' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Key' }).inputValue()).toBe(KEY)
    const source = page.getByRole('textbox', { name: 'Source' })
    const good = await source.inputValue()
    const faulty = good.replace('inputs.directors <= 1', 'inputs.directors < 1')
    await source.fill(faulty.replace('  return', '  if (inputs.directors === 5) Date.now()\n  return'))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    const refused = page.getByRole('alert').filter({ hasText: 'Stored as version 1, which cannot run' })
    await refused.getByText('An example gives another output').waitFor()
    const differences = refused.getByRole('table', { name: 'How the output differs' })
    await expect
      .poll(() => differences.getByRole('row', { name: /score/ }).innerText())
      .toMatch(/expected\s*6,?000[\s\S]*actual\s*0/)
    await refused.getByRole('button', { name: /^\/examples\/1/ }).click()
    await expect
      .poll(() => page.evaluate('document.activeElement.value.slice(0, document.activeElement.selectionEnd)'))
      .toContain('one director')
    await refused.getByRole('button', { name: 'line 4 of the source' }).click()
    await expect
      .poll(() => page.evaluate('document.activeElement.value.slice(0, document.activeElement.selectionEnd)'))
      .toMatch(/Date\.now\(\)$/)
    await takeScreenshot(page, 'decisions-plugin-upload')
    const manifest = page.getByRole('textbox', { name: 'Manifest' })
    await manifest.fill((await manifest.inputValue()).replace('"1.0.0"', '"1.0.1"'))
    await source.fill(good)
    await page.getByRole('button', { name: 'Upload as a new version' }).click()
    await pageHeading(page, 'Few directors').waitFor()
    await page.getByRole('tab', { name: 'Golden examples' }).click()
    await page.getByRole('button', { name: 'Run the example one director' }).click()
    await page.getByText('It gave the expected output').waitFor()
    await page.getByRole('tab', { name: 'Source' }).click()
    await page.getByRole('button', { name: 'Show the source' }).click()
    await page.getByRole('region', { name: 'Source of plugin.js' }).getByText('export function factor').waitFor()
    // A package is of the plugin that its manifest names, whatever its file is called.
    await page.goto(`${base}/plugins/new`)
    const buffer = await zipFiles([toJsonFile('plugin.json', { plugin_key: KEY })])
    const zip = { name: 'board-1.0.2.zip', mimeType: 'application/zip', buffer }
    await page.locator('input[type="file"]').setInputFiles(zip)
    await page.getByRole('status').getByText('This plugin exists').waitFor()
    await expect.poll(() => page.getByRole('textbox', { name: 'Key' }).inputValue()).toBe(KEY)
    await page.getByRole('button', { name: 'Upload as a new version' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()

    const officer = await at(clara, `/plugins/${KEY}?tab=versions`)
    const first = officer.page.getByRole('listitem', { name: 'Version 1' })
    await first.getByText('cannot run').waitFor()
    await first.getByText('It cannot be put in force.').waitFor()
    await expect.poll(() => first.getByRole('button', { name: /^Put in force/ }).isDisabled()).toBe(true)
    await officer.page
      .getByRole('listitem', { name: 'Version 2' })
      .getByRole('button', { name: /^Put in force/ })
      .click()
    await officer.page.getByLabel('Reason').fill('Reviewed with the model team')
    await officer.page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await officer.page.getByRole('region', { name: 'State' }).getByText('The version in force is valid').waitFor()
    await expectFitsScreens(officer.page, 'decisions-plugin-versions')
    await officer.page.goto(`${base}/plugins/${KEY}?version=1`)
    await officer.page.getByRole('button', { name: 'line 4 of the source' }).click()
    await officer.page.getByRole('region', { name: 'Source of plugin.js' }).getByText('Date.now()').waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })

  browserTest('of the kind adapter is chosen for an import', async () => {
    const call = (token: string, place: string, body: object) => w.call(place, { token, body })
    const schema = {
      ...{ type: 'object', required: ['code'], additionalProperties: false },
      properties: { code: { type: 'string' }, name: { type: 'string' } },
    }
    const fields = { '/code': { title: 'Code' }, '/name': { title: 'Name' } }
    const type = { type_key: 'plugin-codes', title: 'Code', description: 'A code.', schema, fields }
    await call(petra, 'POST /reference-data/types', { ...type, key_pointers: ['/code'], examples: [{ code: 'A1' }] })
    await call(petra, 'POST /reference-data/datasets', { list_key: 'codes', type_key: 'plugin-codes', title: 'Codes' })
    await call(petra, 'POST /plugins', { plugin_key: 'code-table', package: adapterPlugin() })
    await call(clara, 'POST /plugins/code-table/activations', { version: 1, reason: 'Reviewed' })
    const { page, seen, close } = await at(petra, '/imports/new?list=codes')
    const buffer = Buffer.from('code,name\na1,First\nb2,Second\n')
    // The upload ends while the choice is open; the choice must stay open.
    let endUpload = () => {}
    const isOpen = new Promise<void>((resolve) => {
      endUpload = resolve
    })
    await page.route('**/api/uploads*', async (route) => {
      await isOpen
      await route.continue()
    })
    await page.getByLabel('File to import').setInputFiles({ name: 'codes.csv', mimeType: 'text/csv', buffer })
    const adapter = page.getByRole('combobox', { name: 'Adapter' })
    // Nothing is chosen until the file is read; what is typed until then must stay.
    await adapter.fill('Code table')
    const option = page.getByRole('option', { name: 'Code table (plugin)' })
    await option.waitFor()
    endUpload()
    await page.getByRole('button', { name: 'Preview', exact: true }).waitFor()
    await option.click()
    await page.getByText('Read by the plugin').waitFor()
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByText('2 accepted').waitFor()
    await takeScreenshot(page, 'decisions-plugin-import')
    await page.getByRole('button', { name: 'Start import' }).click()
    await page.getByText('Version 1 published').waitFor()
    const entries = await w.call('GET /reference-data/datasets/codes/versions/1/entries', { token: petra })
    expect(entries.json.items.map(({ key }: { key: string }) => key)).toEqual(['A1', 'B2'])
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('that is not granted or disabled names what is refused, and a refused decision links to it', async () => {
    const [plugin_key, matrix_key] = ['shell-signals', 'company-shell-risk']
    const tara = await createPersonToken('Tina Admin', 'tenant_admin')
    const call = (token: string, place: string, body: object) => w.call(place, { token, body })
    await call(petra, 'POST /plugins', { plugin_key, package: createExamplePlugin(plugin_key) })
    const { page, seen, close } = await at(tara, `/plugins/${plugin_key}?tab=settings`)
    await page.getByRole('table', { name: 'Grants' }).getByText('not granted').waitFor()
    await page.getByRole('button', { name: 'Change grants' }).click()
    await page.getByLabel('Reason').fill('It scores by country')
    await page.getByRole('dialog').getByRole('button', { name: 'Grant', exact: true }).click()
    await page.getByRole('table', { name: 'Grants' }).getByText('granted', { exact: true }).waitFor()
    expect(seen).toEqual(noProblems)
    await call(clara, `POST /plugins/${plugin_key}/activations`, { version: 1, reason: 'Reviewed' })
    const definition = buildPluginMatrix(plugin_key)
    await call(petra, 'POST /risk-matrices', { matrix_key, title: 'Shell company risk', definition })
    await call(petra, `POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    await call(clara, `POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'Reviewed' })
    const inputs = { country: 'AE', directors: 1 }
    const decided = await call(anton, 'POST /evaluations', { matrix_key, inputs })

    await page.goto(`${base}/plugins/${plugin_key}`)
    await page.getByRole('button', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('link', { name: 'Shell company risk' }).waitFor()
    await dialog.getByLabel('Reason').fill('Scores look wrong')
    await dialog.getByRole('button', { name: 'Disable now' }).click()
    const state = page.getByRole('region', { name: 'State' })
    const stopped = state.getByRole('list', { name: 'What is refused now' })
    await stopped.getByText(/evaluate a subject/i).waitFor()
    await expectFitsScreens(page, 'decisions-plugin-disabled')
    // On the phone that it ends with.
    await page.getByRole('tab', { name: 'Dependents' }).click()
    const dependents = page.getByRole('table', { name: 'Dependents' })
    await dependents.getByText(/^Version 1\. .*evaluate a subject/i).waitFor()
    await page.goto(`${base}/`)
    await page.getByRole('region', { name: 'Plugins that cannot run' }).getByText('Scores look wrong').waitFor()
    expect(seen).toEqual(noProblems)
    await close()

    const analyst = await at(anton, `/evaluations/${decided.json.evaluation_id}`)
    await analyst.page.getByRole('table', { name: 'Plugins used' }).getByText('few_directors').waitFor()
    await takeScreenshot(analyst.page, 'decisions-plugin-evaluation')
    await analyst.page.getByRole('tab', { name: 'Re-evaluate' }).click()
    await analyst.page.getByRole('button', { name: 'Re-evaluate with current versions' }).click()
    const refused = analyst.page.getByRole('alert')
    await refused.getByText('Nothing was decided or stored without it').waitFor()
    await takeScreenshot(analyst.page, 'decisions-plugin-refused')
    await refused.getByRole('link', { name: `Open the plugin ${plugin_key}` }).click()
    await pageHeading(analyst.page, 'Shell company signals').waitFor()
    expect(analyst.seen.failed).toEqual([`503 /api/evaluations/${decided.json.evaluation_id}/reevaluate`])
    await analyst.close()
  })
})
