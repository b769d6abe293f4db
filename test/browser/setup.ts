/**
 * Shared by the browser tests: one server with a worker, one browser, and users of one tenant. Each test file calls it
 * once; exports are set after `beforeAll`.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import { checkBrowser, getBrowser } from '../support/browser.ts'
import { buildConsole } from '../support/console-build.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { closeSharedContext, openPage, type Screen } from './page-session.ts'

const availability = await checkBrowser()
if (!availability.ok) console.warn(`Tests in a browser are skipped: ${availability.reason}`)
export const browserTest = test.skipIf(!availability.ok)

export interface Person {
  readonly user_id: string
  readonly token: string
}

export let w: TestApp
export let browser: Browser
export let base: string
export let tenant_id: string
let runner: ReturnType<TestApp['runtime']['createRunner']> | undefined

/** The worker, which a test may have to hold so that something stays queued. */
export const jobWorker = {
  start: () => {
    runner = w.runtime.createRunner(1, { poll_ms: 50 })
    runner.start()
  },
  stop: () => runner?.stop(1000),
}

interface BrowserTestOptions {
  readonly jobs?: NonNullable<Parameters<typeof startTestApp>[0]>['jobs']
  readonly four_eyes?: boolean
  /** Starts what outgoing requests may reach. */
  readonly startEgress?: () => Promise<EgressSettings>
  /** Makes the people and what they look at. */
  readonly prepare: () => Promise<void>
  /** Before the server goes. */
  readonly end?: () => Promise<void> | undefined
}

export function setUpBrowserTests({
  jobs = [],
  four_eyes = false,
  startEgress,
  prepare,
  end,
}: BrowserTestOptions): void {
  beforeAll(async () => {
    if (!availability.ok) return
    buildConsole()
    w = await startTestApp({ jobs, ...(startEgress && { egress: await startEgress() }) })
    base = await w.listen()
    jobWorker.start()
    tenant_id = await w.makeTenant({ four_eyes })
    await prepare()
    browser = await getBrowser()
  })
  afterAll(async () => {
    await closeSharedContext(base)
    await jobWorker.stop()
    await end?.()
    await w?.close()
  })
}

/** A user of a tenant, and a token that speaks for them. */
export async function createPerson(
  name: string,
  roles: readonly Role[],
  { by, tenant = tenant_id }: { readonly by?: Person; readonly tenant?: string } = {},
): Promise<Person> {
  const admin = by?.token ?? (await w.token({ tenant_id: tenant, roles: ['tenant_admin'] }))
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { json } = await w.call('POST /users', { token: admin, body: { name, email, roles } })
  const principal = `user:${json.user_id}` as const
  return { user_id: json.user_id, token: await w.token({ tenant_id: tenant, roles, principal, name }) }
}

/** The same, where only the token matters. */
export const createPersonToken = async (name: string, role: Role, tenant = tenant_id): Promise<string> =>
  (await createPerson(name, [role], { tenant })).token

/** A page of a tab that is signed in already, as after a reload. */
export const at = (who: string | Person, place: string, screen: Screen = {}) =>
  openPage(browser, base, place, { ...screen, token: typeof who === 'string' ? who : who.token })
export const pageHeading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
export const noProblems = { outside: [], errors: [], failed: [] }
