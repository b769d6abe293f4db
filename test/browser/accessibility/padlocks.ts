/** Every page that shows an object of a restriction in force has a padlock, and a title that tells nothing. Runs last: it restricts every row. */
import { describe, expect } from 'vitest'
import { connect } from '../../isolation/support.ts'
import { listPages, objectPages } from '../../support/restricted-views.ts'
import { takeScreenshot } from '../page-session.ts'
import { navigate } from './navigate.ts'
import { toAddress } from './routes.ts'
import { at, browserTest, personRoles, tenant, w } from './setup.ts'

/** Filters that show every row. */
const queries: Readonly<Record<string, string>> = {
  '/change-requests': '?view=all',
  '/source-contracts/quarantine': '?state=all',
  '/search': '?q=statement',
}

/** Pages that show unfinished jobs or failed runs only, of which the tenant has none, or the work of a person who is not chosen yet. */
const WITHOUT_ROWS = ['/operations', '/plugins', '/inbox/settings']

/** Makes every row of the tenant belong to the restriction, without the triggers that keep history. */
async function restrictRows(restriction_id: string): Promise<void> {
  const superuser = await connect(w.clone.postgres)
  try {
    await superuser.query('set session_replication_role = replica')
    const { rows } = await superuser.query<{ name: string }>(
      `select c.relname::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'app'::regnamespace and c.relkind = 'r' and a.attname = 'restriction_id'
          and c.relname not like 'restriction%'`,
    )
    for (const { name } of rows)
      await superuser.query(
        `update app.${name} o set restriction_id = $2 where o.tenant_id = $1 and (o.restriction_id is null or not exists (
           select 1 from app.restriction_force f where f.tenant_id = $1 and f.restriction_id = o.restriction_id))`,
        [tenant.tenant_id, restriction_id],
      )
  } finally {
    await superuser.end()
  }
}

describe('a padlock', () => {
  browserTest('is on every page of a restricted object, and in every list of such objects', async () => {
    const objects = await Promise.all(
      objectPages.map(async ({ page }) => ({ page, address: await toAddress(tenant, page) })),
    )
    const lists = new Set(listPages.map((one) => one.page).filter((path) => !WITHOUT_ROWS.includes(path)))
    // Rows of their own: other tests of this file visit a sample of the pages, and only some dismissals are drawn for a second look.
    await Promise.all([...lists].map((path) => toAddress(tenant, path)))
    const { restriction_id } = await tenant.make('POST /restrictions', { body: { purpose: 'Case 17' } })
    await restrictRows(restriction_id)
    const { page, close } = await at(await tenant.token(personRoles), '/')
    const missing: string[] = []
    for (const { page: path, address } of objects) {
      await navigate(page, address)
      const note = page.getByRole('note', { name: 'Restricted' }).getByText('Do not discuss with the customer.')
      await note.waitFor({ timeout: 10_000 }).catch(() => missing.push(path))
      // The number of a case is random, and says nothing.
      await expect
        .poll(() => page.title())
        .toMatch(/^(Restricted record|INV-[0-9A-Z]{4}-[0-9A-Z]{4}) · Probity$/)
        .catch(async () => missing.push(`title of ${path}: ${await page.title()}`))
    }
    await takeScreenshot(page, 'restricted-object')
    for (const path of lists) {
      await navigate(page, `${path}${queries[path] ?? ''}`)
      const mark = page
        .getByRole('main')
        .getByRole('img', { name: /^Restricted\./ })
        .first()
      await mark.waitFor({ timeout: 10_000 }).catch(() => missing.push(path))
    }
    await takeScreenshot(page, 'restricted-list')
    expect(missing).toEqual([])
    await close()
  })
})
