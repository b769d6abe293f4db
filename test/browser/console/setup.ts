/** Users of the console tests, a job that can be held, and the chain writer of the audit record. */
import type { Locator, Page } from 'playwright-core'
import { defineJob } from '#kernel/job/define-job.ts'
import { closed } from '#kernel/schema.ts'
import type { TestApp } from '#test/support/test-app.ts'
import { ToolTestServer } from '#test/support/tool-server.ts'
import type { PageProblems } from '../page-session.ts'
import { createPerson, type Person, setUpBrowserTests, w } from '../setup.ts'

export {
  at,
  base,
  browser,
  browserTest,
  createPerson,
  jobWorker,
  noProblems,
  type Person,
  pageHeading,
  tenant_id,
  w,
} from '../setup.ts'

/** Work that goes on one step at a time, when a test allows it. */
let allowedSteps = 0
export const allowSteps = (steps: number): void => {
  allowedSteps = steps
}
const slowWork = defineJob({
  kind: 'slow-work',
  summary: 'Three steps.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ step, signal }) => {
    for (let done = 0; done < 3; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (signal.aborted) return null
      if (allowedSteps === 0) continue
      allowedSteps--
      done++
      await step(async () => ({ progress: { done, total: 3, unit: 'parts' } }))
    }
    return { parts: 3 }
  },
})

export let tara: Person
export let till: Person
export let clara: Person
export let vera: Person
export let udo: Person
let chainWriter: ReturnType<TestApp['runtime']['createChainWriter']> | undefined

/** Sealing the audit record, which a test may have to hold. */
export const auditChain = {
  start: () => {
    chainWriter = w.runtime.createChainWriter()
    chainWriter.start()
  },
  stop: () => chainWriter?.stop(),
}

/** A tool server of another party, which the tests may change. */
export let toolServer: ToolTestServer

setUpBrowserTests({
  startEgress: async () => {
    toolServer = await ToolTestServer.start()
    return toolServer.egress
  },
  jobs: [slowWork],
  four_eyes: true,
  prepare: async () => {
    auditChain.start()
    tara = await createPerson('Tara Admin', ['tenant_admin'])
    // Nobody but Tara could approve them yet; once there is Till, whoever is given roles waits for approval.
    vera = await createPerson('Vera Viewer', ['viewer'], { by: tara })
    udo = await createPerson('Udo Auditor', ['auditor'], { by: tara })
    clara = await createPerson('Clara Compliance', ['compliance_officer'], { by: tara })
    till = await createPerson('Till Admin', ['tenant_admin'], { by: tara })
  },
  end: async () => {
    await chainWriter?.stop()
    await toolServer.close()
  },
})

/** The change that Tara requested and that now waits for approval. */
export async function approveBy(approver: Person, dialog: Locator): Promise<string> {
  const link = dialog.getByRole('link', { name: 'Open the change request' })
  const cr_id = ((await link.getAttribute('href')) ?? '').split('/').at(-1) as string
  await w.call(`POST /change-requests/${cr_id}/approve`, { token: approver.token, body: {} })
  return cr_id
}

export const navigation = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
/** The creator of the first users exists in a token only, so the audit record has no name for them. */
export const ignoreUnknownActor = (seen: PageProblems): PageProblems => ({
  ...seen,
  failed: seen.failed.filter((answer) => !answer.startsWith('404 /api/users/')),
})
