/** The home page of each role. */
import { expect } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import { tenant_id } from '../setup.ts'
import { anton, at, base, browserTest, clara, noProblems, pageHeading, petra, udo, w } from './setup.ts'

/** The counts of yesterday, as the hourly job stores them: all ratings of the stories are of today. */
const insertYesterday = (band: string, subjects: number) =>
  w.runtime.database.write(fullScope(tenant_id, 'job:test'), async (tx) => {
    const values = [tx.tenant_id, new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)]
    await tx.run(
      `insert into app.portfolio_progress (tenant_id, first_day, last_day, next_rating) values ($1, $2, $2, $3)
       on conflict on constraint portfolio_progress_pkey do nothing`,
      [...values, uuidv7()],
    )
    await tx.run(
      `insert into app.portfolio_day (tenant_id, day, matrix_key, band, subjects) values ($1, $2, '', $3, $4)
       on conflict on constraint portfolio_day_pkey do nothing`,
      [...values, band, subjects],
    )
  })

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
  await insertYesterday('prohibited', 25)
  const { page, seen, close } = await at(clara, '/')
  await page.getByRole('region', { name: 'Waiting for your approval' }).waitFor()
  const bands = page.getByRole('list', { name: 'Active subjects by band' }).getByRole('listitem')
  await bands.filter({ hasText: /−\d/ }).first().waitFor()
  await page.getByText('A count opens the customers who are in the band', { exact: false }).waitFor()
  const low = bands.filter({ hasText: 'Low' }).getByRole('link').first()
  const count = Number(await low.innerText())
  expect(count).toBeGreaterThan(0)
  await takeScreenshot(page, 'decisions-home')
  await low.click()
  await pageHeading(page, 'Subjects').waitFor()
  const rows = page.getByRole('table', { name: 'Subjects' }).getByRole('row')
  await expect.poll(async () => (await rows.count()) - 1).toBe(count)
  // Nobody was rated before today.
  await page.goBack()
  await bands.filter({ hasText: 'Low' }).getByRole('link', { name: /^\+/ }).click()
  await pageHeading(page, 'Movements between bands').waitFor()
  const moved = page.getByRole('table', { name: 'Movements' }).getByRole('row')
  await expect.poll(async () => (await moved.count()) - 1).toBe(count)
  await takeScreenshot(page, 'decisions-movements')
  // Whoever comes back finds the period that the figures were of.
  await page.goto(`${base}/`)
  await page.getByRole('radiogroup', { name: 'Period' }).getByText('30 days').click()
  await expect.poll(() => new URL(page.url()).search).toBe('?days=30')
  await bands.filter({ hasText: 'Low' }).getByRole('link').first().click()
  await pageHeading(page, 'Subjects').waitFor()
  await page.goBack()
  await expect.poll(() => page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true)
  await page.setViewportSize(PHONE)
  await page.goto(`${base}/`)
  await bands.first().waitFor()
  await expect.poll(() => getOverflow(page)).toBe(0)
  expect(seen).toEqual(noProblems)
  await close()
})
