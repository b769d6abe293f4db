/** The console in a real browser: the main paths, each kind of failure, the keyboard, both colour schemes, both widths. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import readline from 'node:readline'
import pg from 'pg'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '../../src/kernel/audit/export-file.ts'
import type { Role } from '../../src/kernel/auth/roles.ts'
import { defineJob } from '../../src/kernel/job/kind.ts'
import { closed } from '../../src/kernel/schema.ts'
import { browserAvailable, launch } from '../support/browser.ts'
import { projectRoot } from '../support/database.ts'
import { tamper } from '../support/tampering.ts'
import { type World, world } from '../support/world.ts'
import { phone, type Seen, shot, signIn, visit, visitAs, wide } from './visitor.ts'

const availability = await browserAvailable()
if (!availability.ok) console.warn(`The tests of the console in a browser are skipped: ${availability.reason}`)
const inBrowser = test.skipIf(!availability.ok)

interface Person {
  readonly user_id: string
  readonly token: string
}

/** Work that goes on one step at a time, when a test lets it. */
let permits = 0
const slowWork = defineJob({
  kind: 'slow-work',
  summary: 'Three steps.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ step, signal }) => {
    for (let done = 0; done < 3; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (signal.aborted) return null
      if (permits === 0) continue
      permits--
      done++
      await step(async () => ({ progress: { done, total: 3, unit: 'parts' } }))
    }
    return { parts: 3 }
  },
})

let w: World
let runner: ReturnType<World['runtime']['createRunner']>
let sealer: ReturnType<World['runtime']['createSealer']>
let browser: Browser
let base: string
let tenant_id: string
let tara: Person
let till: Person
let vera: Person
let udo: Person

/** A user of the tenant, and a token that speaks for them. */
async function person(name: string, roles: readonly Role[], by?: Person): Promise<Person> {
  const admin = by?.token ?? (await w.token({ tenant_id, roles: ['tenant_admin'] }))
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { json } = await w.call('POST /users', { token: admin, body: { name, email, roles } })
  const principal = `user:${json.user_id}` as const
  return { user_id: json.user_id, token: await w.token({ tenant_id, roles, principal, name }) }
}

beforeAll(async () => {
  if (!availability.ok) return
  execFileSync(process.execPath, ['scripts/build.mjs', 'console'], { cwd: projectRoot, stdio: 'pipe' })
  w = await world({ jobs: [slowWork] })
  base = await w.listen()
  runner = w.runtime.createRunner(1, { poll_ms: 50 })
  runner.start()
  sealer = w.runtime.createSealer()
  sealer.start()
  tenant_id = await w.makeTenant({ four_eyes: true })
  tara = await person('Tara Admin', ['tenant_admin'])
  till = await person('Till Admin', ['tenant_admin'], tara)
  vera = await person('Vera Viewer', ['viewer'], tara)
  udo = await person('Udo Auditor', ['auditor'], tara)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await runner?.stop(1000)
  await sealer?.stop()
  await w?.close()
})

const at = (who: Person, place: string, options: BrowserContextOptions = {}) =>
  visitAs(browser, base, who.token, place, options)
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
const clean = { outside: [], errors: [], failed: [] }
/** Whoever made the first users exists in a token only: the audit record asks for their name in vain. */
const withoutFounder = (seen: Seen): Seen => ({
  ...seen,
  failed: seen.failed.filter((answer) => !answer.startsWith('404 /api/users/')),
})

describe('signing in', () => {
  inBrowser('with a token, at the very page that was asked for, and out again', async () => {
    const { page, seen, close } = await visit(browser, base, '/users?state=invited')
    await heading(page, 'Sign in').waitFor()
    await shot(page, 'console-sign-in')
    await signIn(page, tara.token)
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    expect(page.url()).toBe(`${base}/users?state=invited`)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Decisions you can prove').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('at an identity provider, and back to the page that was asked for', async () => {
    const { page, seen, close } = await visit(browser, base, '/favicon.svg')
    const provider = {
      issuer: 'https://id.example',
      client_id: 'console',
      authorization_endpoint: `${base}/provider/authorize`,
      token_endpoint: `${base}/provider/token`,
      scopes: ['openid'],
    }
    await page.route('**/api/auth/oidc', (route) => route.fulfill({ json: { items: [provider] } }))
    await page.route('**/provider/authorize?*', (route) => {
      const asked = new URL(route.request().url()).searchParams
      const back = `${asked.get('redirect_uri')}?code=one-time&state=${encodeURIComponent(asked.get('state') ?? '')}`
      return route.fulfill({ status: 302, headers: { location: back } })
    })
    await page.route('**/provider/token', (route) => route.fulfill({ json: { access_token: tara.token } }))
    await page.goto(`${base}/users?role=viewer`)
    await page.getByRole('button', { name: 'Sign in with id.example' }).click()
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    expect(page.url()).toBe(`${base}/users?role=viewer`)
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['probity.token'])
    await page.goto(`${base}/sign-in/callback?code=again&state=forged`)
    await page.getByRole('alert').getByText('was not started in this tab').waitFor()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('what an identity provider renews goes on, and ends with a sentence when it does not', async () => {
    const { page, seen, close } = await visit(browser, base, '/favicon.svg')
    const renewed = await w.token({
      tenant_id,
      roles: ['tenant_admin'],
      principal: `user:${tara.user_id}`,
      name: 'Tara',
    })
    const grant = {
      token_endpoint: `${base}/provider/token`,
      client_id: 'console',
      refresh_token: 'one',
      renew_at_ms: 0,
    }
    await page.evaluate(`sessionStorage.setItem('probity.token', 'expired.long.ago')
      sessionStorage.setItem('probity.grant', ${JSON.stringify(JSON.stringify(grant))})`)
    const asked: string[] = []
    await page.route('**/provider/token', (route) => {
      const given = new URLSearchParams(route.request().postData() ?? '').get('refresh_token') ?? ''
      asked.push(given)
      if (given !== 'one') return route.fulfill({ status: 400, json: { error: 'invalid_grant' } })
      return route.fulfill({ json: { access_token: renewed, refresh_token: 'two', expires_in: 3600 } })
    })
    await page.goto(`${base}/users`)
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    expect(asked).toEqual(['one'])
    expect(seen).toEqual(clean)
    await page.evaluate(`sessionStorage.setItem('probity.grant', JSON.stringify(
      { ...JSON.parse(sessionStorage.getItem('probity.grant')), renew_at_ms: 0 }))`)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('Your identity provider does not renew it any more.').waitFor()
    await shot(page, 'console-not-renewed')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(asked).toEqual(['one', 'two'])
    await signIn(page, tara.token)
    await heading(page, 'API keys').waitFor()
    await close()
  })

  inBrowser('a session that the server has ended asks to sign in again and keeps the place', async () => {
    const ended = await person('Ella Ended', ['tenant_admin'], tara)
    const { page, close } = await at(ended, '/jobs')
    await heading(page, 'Jobs').waitFor()
    await w.call(`POST /users/${ended.user_id}/deactivate`, { token: till.token })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('The bearer token has been revoked').waitFor()
    await shot(page, 'console-session-ended')
    await signIn(page, tara.token)
    await heading(page, 'API keys').waitFor()
    await close()
  })
})

describe('users', () => {
  inBrowser('are listed page by page', async () => {
    const crowd = await w.makeTenant()
    const token = await w.token({ tenant_id: crowd, roles: ['tenant_admin'] })
    for (let i = 0; i < 53; i++) {
      await w.call('POST /users', { token, body: { name: `Person ${i}`, email: `p${i}@example.com`, roles: [] } })
    }
    const { page, seen, close } = await at({ user_id: '', token }, '/users')
    await page.getByText('50 rows shown').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('53 rows shown, that is all').waitFor()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('are invited, found by filters, and refused twice under one address', async () => {
    const { page, seen, close } = await at(tara, '/users')
    await page.getByRole('button', { name: 'Invite a user' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite a user' })
    await dialog.getByLabel('Name').fill('Ada Analyst')
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByLabel('Policy editor').check()
    await dialog.getByLabel('Compliance officer').check()
    await dialog.getByText('The maker of a change must not be its checker.').waitFor()
    await shot(page, 'console-invite')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByText('Ada Analyst is invited').waitFor()
    await page
      .getByRole('row', { name: /Ada Analyst/ })
      .getByText('1 conflict')
      .waitFor()
    expect(seen).toEqual(clean)
    await page.getByRole('button', { name: 'Invite a user' }).click()
    await dialog.getByLabel('Name').fill('Ada Again')
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await dialog.getByRole('alert').getByText('A user with this email address exists already.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    await page.getByRole('link', { name: 'Ada Analyst' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    expect(new URL(page.url()).search).toBe('?role=viewer')
    await close()
  })

  inBrowser('are edited, deactivated and reactivated; who was slower is told so', async () => {
    const edith = await person('Edith Edited', ['analyst'], tara)
    const { page, seen, close } = await at(tara, `/users/${edith.user_id}`)
    await page.getByLabel('Team').fill('North')
    await page.getByRole('button', { name: 'Save the profile' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByText('This person has no access.').waitFor()
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()
    expect(seen).toEqual(clean)
    await w.call(`PATCH /users/${edith.user_id}`, { token: till.token, body: { team: 'East' } })
    await page.getByLabel('Team').fill('South')
    await page.getByRole('button', { name: 'Save the profile' }).click()
    await page.getByRole('alert').getByText('Somebody was faster').waitFor()
    await shot(page, 'console-stale')
    await page.getByRole('button', { name: 'Reload' }).click()
    await expect.poll(() => page.getByLabel('Team').inputValue()).toBe('East')
    await close()
  })
})

describe('availability', () => {
  inBrowser('a person is away for a while, and back', async () => {
    const { page, seen, close } = await at(tara, `/users/${till.user_id}`)
    await page.getByText('Here. New work is given out as usual.').waitFor()
    await page.getByLabel('Away from').fill('2001-01-01T08:00')
    await page.getByLabel('Away until').fill('2000-01-01T08:00')
    await page.getByText('This must be later than the beginning.').waitFor()
    await page.getByLabel('Away until').fill('2999-12-31T17:30')
    await page.getByRole('button', { name: 'Save the absence' }).click()
    await page.getByText('nothing new is given out meanwhile').waitFor()
    expect(await page.getByLabel('Away until').inputValue()).toBe('2999-12-31T17:30')
    await shot(page, 'console-away')
    await page.getByRole('button', { name: 'Back again' }).click()
    await page.getByText('Here. New work is given out as usual.').waitFor()
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('audit record', () => {
  inBrowser('is searched, one event opened, and the history of its object', async () => {
    const { page, seen, close } = await at(udo, '/audit')
    await page.getByRole('link', { name: 'Create user' }).first().waitFor()
    await shot(page, 'console-audit')
    await page.getByRole('combobox', { name: 'What' }).fill('updateUserRoles')
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Object id' }).fill(vera.user_id)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'Create user' }).first().waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('operation')).toBe('updateUserRoles')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('textbox', { name: 'Object id' }).fill(vera.user_id)
    await page.keyboard.press('Enter')
    await page.getByText('1 row shown, that is all').waitFor()
    await page.getByRole('link', { name: 'Create user' }).click()
    await heading(page, 'Create user').waitFor()
    await page.getByRole('region', { name: 'Place in the chain' }).getByText('Hash').waitFor()
    await shot(page, 'console-audit-event')
    await page.getByRole('link', { name: 'History of this object' }).click()
    await heading(page, 'History: Users').waitFor()
    await page.getByRole('table', { name: 'Audit events' }).getByRole('link', { name: 'Create user' }).waitFor()
    expect(withoutFounder(seen)).toEqual(clean)
    await close()
  })

  inBrowser('is verified with a proof, and what a superuser did to it is found', async () => {
    const { page, seen, close } = await at(udo, '/audit/verify')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('status').getByText('The record is intact').waitFor()
    const proof = page.getByRole('region', { name: 'The proof' })
    expect(await proof.innerText()).toMatch(/Sequence\s+1 to [0-9,]+\s+Head hash\s+[0-9a-f]{64}/)
    await shot(page, 'console-audit-proof')
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    // Undoing puts the end of the chain back: nothing may be sealed meanwhile.
    await sealer.stop()
    const undo = await tamper(superuser, tenant_id, 'edit an actor', 2)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('status').getByText('The record is not intact').waitFor()
    const faults = page.getByRole('table', { name: 'What does not fit' })
    await faults.getByRole('row', { name: /link 2 .*not written by this service/ }).waitFor()
    await shot(page, 'console-audit-faults')
    await undo()
    await superuser.end()
    sealer = w.runtime.createSealer()
    sealer.start()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('is exported as a file that verifies, and its checkpoints are shown', async () => {
    const { page, seen, close } = await at(udo, '/audit/exports')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText('The export is ready').waitFor()
    await shot(page, 'console-audit-export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    const lines = readline.createInterface({ input: fs.createReadStream(await download.path()) })
    expect(await verifyExport(lines, w.kernel.audit.public_key)).toMatchObject({ intact: true, tenant_id })
    await page.getByRole('tab', { name: 'Checkpoints' }).click()
    await page.getByRole('table', { name: 'Checkpoints' }).getByText(w.kernel.audit.key_id).first().waitFor()
    await shot(page, 'console-audit-checkpoints')
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('four eyes', () => {
  inBrowser('one person proposes, another approves exactly that', async () => {
    const proposer = await at(tara, `/users/${vera.user_id}`)
    await proposer.page.getByLabel('Analyst').check()
    await proposer.page.getByRole('button', { name: 'Set the roles' }).click()
    await proposer.page.getByRole('status').getByText('Waits for approval').waitFor()
    await shot(proposer.page, 'console-waits')
    await proposer.page.getByRole('link', { name: 'Open the change request' }).click()
    await proposer.page.getByText('You asked for this, so somebody else decides.').waitFor()

    const approver = await at(till, '/')
    await approver.page.getByRole('link', { name: 'Update user roles' }).click()
    await approver.page.getByRole('region', { name: 'The exact content' }).getByText('"analyst"').waitFor()
    await approver.page.getByRole('button', { name: 'Reject' }).click()
    await approver.page.getByText('Say why.').waitFor()
    await approver.page.getByLabel('Note').fill('Agreed on the phone')
    await shot(approver.page, 'console-decision')
    await approver.page.getByRole('button', { name: 'Approve' }).click()
    await approver.page.getByText('approved', { exact: true }).waitFor()
    await approver.page.getByText('“Agreed on the phone”').waitFor()

    await proposer.page.goto(`${base}/users/${vera.user_id}`)
    await expect.poll(() => proposer.page.getByLabel('Analyst').isChecked()).toBe(true)
    expect([proposer.seen, approver.seen]).toEqual([clean, clean])
    await Promise.all([proposer.close(), approver.close()])
  })
})

describe('API keys', () => {
  inBrowser('a key is made, its secret shown once, used to sign in, and revoked', async () => {
    const admin = await at(tara, '/api-keys')
    await admin.page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = admin.page.getByRole('dialog', { name: 'Create an API key' })
    await dialog.getByLabel('Name').fill('Nightly import')
    await dialog.getByLabel('Viewer').check()
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    const once = admin.page.getByRole('dialog', { name: 'The secret of Nightly import' })
    const secret = await once.locator('code, pre').filter({ hasText: 'pk_' }).first().innerText()
    await shot(admin.page, 'console-secret')
    await admin.page.keyboard.press('Escape')
    await once.getByRole('button', { name: 'I have stored it' }).click()
    await once.waitFor({ state: 'hidden' })
    expect(await admin.page.content()).not.toContain(secret)

    const machine = await visit(browser, base, '/sign-in')
    await signIn(machine.page, secret)
    await machine.page.getByText('Signed in as Nightly import.').waitFor()
    await areas(machine.page).getByRole('link', { name: 'Jobs' }).waitFor()
    expect(await areas(machine.page).getByRole('link', { name: 'Users' }).count()).toBe(0)
    await machine.page.reload()
    await machine.page.getByText('Signed in as Nightly import.').waitFor()

    const actions = admin.page.getByRole('button', { name: 'Actions for Nightly import' })
    await expect
      .poll(
        async () => {
          await actions.click()
          await admin.page.getByRole('menuitem', { name: 'Usage' }).click()
          const usage = admin.page.getByRole('dialog', { name: 'Usage of Nightly import' })
          const table = usage.getByRole('table', { name: 'Calls by operation' })
          await usage.getByText('Not used').or(table).first().waitFor()
          const isCounted = await table.getByText('Get me').isVisible()
          if (isCounted) {
            await usage.getByRole('img', { name: 'Calls per day over the last 31 days' }).waitFor()
            await shot(admin.page, 'console-usage')
          }
          await admin.page.keyboard.press('Escape')
          await usage.waitFor({ state: 'hidden' })
          return isCounted
        },
        { timeout: 20_000, interval: 1000 },
      )
      .toBe(true)
    await actions.click()
    await admin.page.getByRole('menuitem', { name: 'Revoke' }).click()
    await admin.page.getByRole('button', { name: 'Revoke the key' }).click()
    await admin.page
      .getByRole('row', { name: /Nightly import/ })
      .getByText('revoked')
      .waitFor()
    await machine.page.getByRole('status').getByText('The API key is not valid').waitFor()
    expect(admin.seen).toEqual(clean)
    expect({ ...machine.seen, failed: [] }).toEqual(clean)
    await Promise.all([admin.close(), machine.close()])
  })
})

describe('tenant settings', () => {
  inBrowser('the isolation check shows its proof', async () => {
    const { page, seen, close } = await at(tara, '/tenant')
    await page.getByRole('tab', { name: 'Isolation' }).click()
    await page.getByRole('button', { name: 'Try to cross' }).click()
    await page.getByRole('status').getByText('The wall holds').waitFor()
    const row = page.getByRole('table', { name: 'Attempts by table' }).getByRole('row', { name: /^api_key / })
    expect(await row.innerText()).toMatch(/0 rows.*refused/s)
    await shot(page, 'console-isolation')
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('profile, approval policy and retention are changed, under their own policy', async () => {
    const { page, seen, close } = await at(tara, '/tenant')
    await page.getByLabel('Residency').fill('EU')
    await page.getByRole('button', { name: 'Save the profile' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Approval policy' }).click()
    await page.getByLabel('Approvers for retention-policy').fill('2')
    await page.getByRole('button', { name: 'Save the policy' }).click()
    await page.getByText('Waits for approval').waitFor()
    await shot(page, 'console-approval-policy')
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.getByLabel('Jobs: days kept').fill('60')
    await page.getByRole('button', { name: 'Save the policy' }).click()
    await page.getByText('The retention policy is in force').waitFor()
    await shot(page, 'console-retention')
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('jobs', () => {
  const start = () =>
    w.runtime.database.write({ tenant_id, actor: `user:${tara.user_id}` }, (tx) =>
      w.kernel.jobs.enqueue(tx, { kind: 'slow-work', payload: {}, total: 3, unit: 'parts' }),
    )

  inBrowser('are followed live, from the home page to the result', async () => {
    await start()
    const { page, seen, close } = await at(tara, '/')
    await page.getByRole('link', { name: 'Slow work' }).waitFor()
    permits = 1
    await page.getByText('1 of 3 parts').waitFor()
    await shot(page, 'console-home')
    await page.getByRole('link', { name: 'Slow work' }).click()
    await page.getByText('1 of 3 parts').waitFor()
    permits = 1
    await page.getByText('2 of 3 parts').waitFor()
    permits = 1
    await page.getByText('succeeded', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('"parts": 3').waitFor()
    await shot(page, 'console-job')
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('are cancelled and started again', async () => {
    const { job_id } = await start()
    const { page, seen, close } = await at(tara, `/jobs/${job_id}`)
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByRole('button', { name: 'Start again' }).click()
    permits = 3
    await page.getByText('succeeded', { exact: true }).waitFor()
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('failures', () => {
  const answer = (status: number, code: string, more: object = {}) => ({
    status,
    headers: { 'content-type': 'application/problem+json', 'retry-after': '3' },
    body: JSON.stringify({
      status,
      code,
      title: 'A title',
      detail: `Advice for ${code}.`,
      retryable: false,
      request_id: 'c0ffee00-0000-7000-8000-000000000000',
      ...more,
    }),
  })

  inBrowser('403 names the roles that would do', async () => {
    const { page, seen, close } = await at(vera, '/users')
    await heading(page, 'Your roles do not include this').waitFor()
    await page.getByRole('list', { name: 'Roles' }).getByText('tenant admin').waitFor()
    await shot(page, 'console-403')
    expect(seen).toEqual({ ...clean, failed: ['403 /api/users'] })
    await close()
  })

  inBrowser('404: an unknown row and an unknown address', async () => {
    const { page, seen, close } = await at(tara, '/users/00000000-0000-7000-8000-000000000404')
    await heading(page, 'There is nothing here').waitFor()
    await page.goto(`${base}/no/such/page`)
    await heading(page, 'There is nothing here').waitFor()
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.getByText('Signed in as Tara Admin.').waitFor()
    expect(seen.errors).toEqual([])
    await close()
  })

  inBrowser('429 counts down and comes back by itself', async () => {
    const limited = await w.makeTenant()
    const lena = { user_id: '', token: await w.token({ tenant_id: limited, roles: ['tenant_admin'] }) }
    const { page, close } = await at(lena, '/users')
    await heading(page, 'Users').waitFor()
    await page.route('**/api/jobs?*', (route) => route.fulfill(answer(429, 'rate_limited')))
    await page.getByRole('link', { name: 'Jobs' }).click()
    await heading(page, 'Too many requests').waitFor()
    await page.getByText(/Trying again in [123] s/).waitFor()
    await shot(page, 'console-429')
    await page.unroute('**/api/jobs?*')
    await heading(page, 'Jobs').waitFor()
    await close()
  })

  inBrowser('other refusals are told with advice and the id to quote, and leave when asked again', async () => {
    const { page, close } = await at(tara, '/')
    await page.getByText('Signed in as Tara Admin.').waitFor()
    for (const [status, code, title] of [
      [500, 'internal', 'Something went wrong on the server'],
      [503, 'dependency_unavailable', 'The service is busy'],
      [424, 'provider_credential_missing', 'A provider credential is missing'],
      [412, 'precondition_failed', 'Somebody was faster'],
    ] as const) {
      await page.route('**/api/change-requests/inbox?limit=50', (route) => route.fulfill(answer(status, code)))
      await areas(page).getByRole('link', { name: 'Change requests' }).click()
      await heading(page, title).waitFor()
      await page.getByText('c0ffee00-0000-7000-8000-000000000000').waitFor()
      await shot(page, `console-${status}`)
      await page.unroute('**/api/change-requests/inbox?limit=50')
      await page.getByRole('button', { name: /^(Try again now|Reload)$/ }).click()
      await heading(page, 'Change requests').waitFor()
      await page.reload()
    }
    await close()
  })

  inBrowser('offline is noticed at once, and over when it is over', async () => {
    const { page, context, close } = await at(tara, '/users')
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    await context.setOffline(true)
    await page.getByText('You are offline. What you see may be out of date').waitFor()
    await page.getByRole('link', { name: 'Vera Viewer' }).click()
    await heading(page, 'You are offline').waitFor()
    await shot(page, 'console-offline')
    await context.setOffline(false)
    await heading(page, 'Vera Viewer').waitFor()
    await close()
  })
})

describe('without a mouse', () => {
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent || document.activeElement.tagName')
  const goTo = async (page: Page, words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find an area' }).waitFor()
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
  }

  inBrowser('one gets everywhere, and focus is where reading begins', async () => {
    const { page, seen, close } = await at(tara, '/')
    await page.getByText('Signed in as Tara Admin.').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await focused(page)).toBe('main')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Find an area' }).waitFor({ state: 'hidden' })
    await goTo(page, 'isolation')
    await expect.poll(() => focused(page)).toBe('Tenant settings')
    expect(await page.title()).toBe('Tenant settings · Probity')
    await goTo(page, 'users')
    await expect.poll(() => focused(page)).toBe('Users')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Invite a user')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toContain('Name')
    await page.keyboard.type('Kay Keyboard')
    await page.keyboard.press('Tab')
    await page.keyboard.type('kay@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('Kay Keyboard is invited').waitFor()
    await expect.poll(() => focused(page)).toBe('Invite a user')
    await areas(page).getByRole('button', { name: 'Work' }).focus()
    await page.keyboard.press('Enter')
    await areas(page).getByRole('link', { name: 'Jobs' }).waitFor({ state: 'hidden' })
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('on any screen', () => {
  inBrowser.each([wide, phone])('pages fit and keep their landmarks, light and dark (%o)', async (viewport) => {
    const everybody = { ...tara, token: await w.token({ tenant_id, principal: `user:${tara.user_id}` }) }
    const { page, seen, close } = await at(everybody, '/', { viewport })
    const places = [
      '/',
      '/users',
      `/users/${vera.user_id}`,
      '/api-keys',
      '/audit',
      '/audit/exports',
      '/change-requests?view=all',
      '/tenant/retention-policy',
    ]
    for (const place of places) {
      await page.goto(`${base}${place}`)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('main').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect(await page.getByRole('banner').count()).toBe(1)
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), place).toBe(0)
      const name =
        place
          .replaceAll(/[0-9a-f-]{36}/g, 'one')
          .replaceAll(/[?/=]+/g, '-')
          .slice(1) || 'home'
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
        await shot(page, `console-page-${name}-${colorScheme}-${viewport.width}`)
      }
    }
    if (viewport === phone) {
      await page.getByRole('button', { name: 'Navigation' }).click()
      await areas(page).getByRole('link', { name: 'Jobs' }).click()
      await heading(page, 'Jobs').waitFor()
      await areas(page).waitFor({ state: 'hidden' })
    }
    expect(withoutFounder(seen)).toEqual(clean)
    await close()
  })
})
