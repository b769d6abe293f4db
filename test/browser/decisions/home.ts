/** The home page of each role. */
import { expect } from 'vitest'
import { getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import { anton, at, base, browserTest, clara, noProblems, pageHeading, petra, udo } from './setup.ts'

browserTest('the home page shows each role what needs them, and a count opens exactly its rows', async () => {
  const sections = [
    [anton, 'Recent decisions with required actions'],
    [petra, 'Due for review or out of date'],
    [udo, 'Recent changes of policy'],
  ] as const
  for (const [token, name] of sections) {
    const { page, seen, close } = await at(token, '/')
    await page.getByRole('region', { name }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  }
  const { page, seen, close } = await at(clara, '/')
  await page.getByRole('region', { name: 'Waiting for your approval' }).waitFor()
  const bands = page.getByRole('list', { name: 'Active subjects by band' }).getByRole('listitem')
  const low = bands.filter({ hasText: 'Low' }).getByRole('link')
  const count = Number(await low.innerText())
  expect(count).toBeGreaterThan(0)
  await takeScreenshot(page, 'decisions-home')
  await low.click()
  await pageHeading(page, 'Subjects').waitFor()
  const rows = page.getByRole('table', { name: 'Subjects' }).getByRole('row')
  await expect.poll(async () => (await rows.count()) - 1).toBe(count)
  await page.setViewportSize(PHONE)
  await page.goto(`${base}/`)
  await bands.first().waitFor()
  await expect.poll(() => getOverflow(page)).toBe(0)
  expect(seen).toEqual(noProblems)
  await close()
})
