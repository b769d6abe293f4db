/** A matrix of the tenant under the key of a shared one: all pages keep working while it is a draft and afterwards. */
import { beforeAll, describe, expect } from 'vitest'
import { at, browserTest, createPersonToken, lowRiskInputs, MATRIX, noProblems, pageHeading, w } from './setup.ts'

describe('an own matrix under a shared key', () => {
  let anton: string
  let petra: string
  let clara: string
  let carl: string
  let earlier: string
  /** The shared version in force, which decides until the tenant's own is. */
  let shared: number

  beforeAll(async () => {
    if (!w) return
    const tenant = await w.makeTenant({ four_eyes: true })
    anton = await createPersonToken('Anton Analyst', 'analyst', tenant)
    petra = await createPersonToken('Petra Policy', 'policy_editor', tenant)
    clara = await createPersonToken('Clara Compliance', 'compliance_officer', tenant)
    carl = await createPersonToken('Carl Compliance', 'compliance_officer', tenant)
    const decided = await w.call('POST /evaluations', {
      token: anton,
      body: { matrix_key: MATRIX, inputs: lowRiskInputs },
    })
    earlier = decided.json.evaluation_id
    const { json } = await w.call(`GET /risk-matrices/${MATRIX}?origin=shared`, { token: anton })
    shared = json.active.version
    const order = { matrix_key: MATRIX, title: 'Ours', from_key: MATRIX }
    await w.call('POST /risk-matrices', { token: petra, body: order })
  })

  browserTest('has an address different from the shared matrix', async () => {
    const { page, seen, close } = await at(petra, '/matrices')
    const link = (name: string) => page.getByRole('row').filter({ hasText: MATRIX }).getByRole('link', { name })
    await link('Ours').waitFor()
    const hrefs = await page
      .getByRole('row')
      .filter({ hasText: MATRIX })
      .getByRole('link')
      .evaluateAll((links) => links.map((one) => one.getAttribute('href')))
    expect(new Set(hrefs).size).toBe(hrefs.length)
    await link('Ours').first().click()
    await pageHeading(page, 'Ours').waitFor()
    const force = page.getByRole('region', { name: 'In force' })
    await force.getByText('The shared matrix with the same key is in force').waitFor()
    await force.getByRole('link', { name: `version ${shared}` }).click()
    await page.getByRole('main').getByText('shared', { exact: true }).first().waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('listitem', { name: `Version ${shared}` }).waitFor()
    await page.getByRole('tab', { name: 'Golden cases' }).click()
    await page.getByRole('button', { name: `Run on version ${shared}` }).click()
    await page.getByText(/cases passed, 0 failed/).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('does not block evaluations while it is a draft', async () => {
    const { page, seen, close } = await at(anton, `/evaluations/new?matrix=${MATRIX}`)
    await page.getByRole('button', { name: 'Evaluate' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  const expectWhole = async () => {
    const { page, seen, close } = await at(anton, `/evaluations/${earlier}?tab=what-if`)
    await page
      .getByRole('region', { name: 'Outcome' })
      .getByRole('img', { name: /Bands in points/ })
      .waitFor()
    await page.getByRole('button', { name: 'Run what-if' }).click()
    await page.getByRole('region', { name: 'Result with these inputs' }).waitFor()
    await page.getByRole('tab', { name: 'Inputs and versions' }).click()
    const pinned = page.getByRole('link', { name: `matrix Customer risk of persons, version ${shared}` })
    await expect.poll(() => pinned.getAttribute('href')).toMatch(/origin=shared/)
    expect(seen).toEqual(noProblems)
    await close()
  }

  browserTest('keeps score, bands and what-if of earlier decisions', expectWhole)

  browserTest('shows the version in force to its approver', async () => {
    await w.call(`POST /risk-matrices/${MATRIX}/versions/draft/publish`, { token: petra, body: {} })
    const body = { reason: 'Ours from now on.' }
    const { json } = await w.call(`POST /risk-matrices/${MATRIX}/versions/1/submit`, { token: petra, body })
    const { page, seen, close } = await at(clara, `/change-requests/${json.cr_id}`)
    const difference = page.getByRole('region', { name: 'Difference' })
    await difference.getByText(`From version ${shared} (shared), in force now, to version 1 (own):`).waitFor()
    await difference.getByText('Both versions have the same content').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
    for (const token of [clara, carl]) await w.call(`POST /change-requests/${json.cr_id}/approve`, { token, body: {} })
    const { json: matrix } = await w.call(`GET /risk-matrices/${MATRIX}`, { token: petra })
    expect(matrix).toMatchObject({ origin: 'own', active: { version: 1 } })
  })

  browserTest('keeps earlier decisions complete after it is in force', expectWhole)
})
