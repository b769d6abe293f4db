/** Change requests, tenant settings and jobs. */
import { describe, expect } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { insertBreakGlassReview } from '#kernel/request/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { DESKTOP, getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import {
  allowSteps,
  at,
  base,
  browserTest,
  clara,
  noProblems,
  pageHeading,
  tara,
  tenant_id,
  till,
  vera,
  w,
} from './setup.ts'

describe('change requests', () => {
  browserTest('are executed after another user approves them', async () => {
    const proposer = await at(tara, `/users/${vera.user_id}`)
    await proposer.page.getByLabel('Analyst').check()
    await proposer.page.getByRole('button', { name: 'Save roles' }).click()
    await proposer.page.getByRole('status').getByText('Waiting for approval').waitFor()
    await takeScreenshot(proposer.page, 'console-waits')
    await proposer.page.getByRole('link', { name: 'Open the change request' }).click()
    await proposer.page.getByText('You requested this change, so another user must approve it.').waitFor()

    const approver = await at(till, '/')
    await approver.page
      .getByRole('list', { name: 'Change requests waiting for you' })
      .getByRole('link', { name: /: roles .*analyst/ })
      .click()
    await pageHeading(approver.page, 'Change the roles of Vera Viewer').waitFor()
    await approver.page.getByRole('table', { name: 'Before and after' }).getByText('analyst').waitFor()
    await approver.page
      .getByRole('list', { name: 'Conditions of approval' })
      .getByText('Still up to date: met')
      .waitFor()
    await approver.page.getByRole('button', { name: 'Reject' }).click()
    await approver.page.getByText('Enter a reason.').waitFor()
    await approver.page.getByLabel('Note').fill('Agreed on the phone')
    await takeScreenshot(approver.page, 'console-decision')
    await approver.page.getByRole('button', { name: 'Approve' }).click()
    await approver.page.getByText('approved', { exact: true }).waitFor()
    await approver.page.getByText('“Agreed on the phone”').waitFor()

    await proposer.page.goto(`${base}/users/${vera.user_id}`)
    await expect.poll(() => proposer.page.getByLabel('Analyst').isChecked()).toBe(true)
    expect([proposer.seen, approver.seen]).toEqual([noProblems, noProblems])
    await Promise.all([proposer.close(), approver.close()])
  })
})

browserTest('emergency changes can be acknowledged on the home page by a possible approver', async () => {
  const review = { action: 'rollback', operation: 'rollBackRule', params: { rule_key: 'large-cash' }, body: {} }
  await w.runtime.database.write(fullScope(tenant_id, `user:${till.user_id}`), (tx) =>
    insertBreakGlassReview(tx, {
      ...review,
      review_id: uuidv7(),
      reason: 'It blocks everybody.',
      required_role: 'compliance_officer',
    }),
  )
  const { page, seen, close } = await at(clara, '/')
  const inbox = page.getByRole('region', { name: 'Emergency changes to acknowledge' })
  await inbox.getByText('It blocks everybody.').waitFor()
  await takeScreenshot(page, 'console-break-glass')
  await inbox.getByRole('button', { name: 'Acknowledge: Rule rolled back, large-cash' }).click()
  await inbox.waitFor({ state: 'detached' })
  expect(seen).toEqual(noProblems)
  await close()
})

describe('tenant settings', () => {
  browserTest('show the evidence of the isolation check', async () => {
    const { page, seen, close } = await at(tara, '/tenant')
    await page.getByRole('tab', { name: 'Isolation' }).click()
    await page.getByRole('button', { name: 'Run isolation check' }).click()
    await page.getByRole('status').getByText('Tenant isolation verified').waitFor()
    const row = page.getByRole('table', { name: 'Attempts by table' }).getByRole('row', { name: /^api_key / })
    await expect.poll(() => row.innerText()).toMatch(/0 rows.*refused/s)
    await takeScreenshot(page, 'console-isolation')
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can change profile, approval policy and retention', async () => {
    const { page, seen, close } = await at(tara, '/tenant')
    await page.getByLabel('Residency').fill('EU')
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Profile saved').waitFor()
    await page.getByRole('tab', { name: 'Approval policy' }).click()
    await page.getByText('activation of a version that somebody requests who may not put it in force').waitFor()
    const activation = page.getByRole('row', { name: /^Activation / })
    await activation.getByText('what a policy editor requests needs one compliance officer').waitFor()
    const approvers = activation.getByLabel('Approvers for activation')
    const approversBefore = await approvers.inputValue()
    await approvers.fill('0')
    await activation.getByText('Needs at least 1 approver, who is shown the impact').waitFor()
    await expect.poll(() => activation.getByRole('checkbox').isDisabled()).toBe(true)
    await approvers.fill('1')
    await expect.poll(() => activation.getByRole('checkbox').isEnabled()).toBe(true)
    await approvers.fill(approversBefore)
    await page.getByLabel('Approvers for retention-policy').fill('1')
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Waiting for approval').waitFor()
    await takeScreenshot(page, 'console-approval-policy')
    await page.setViewportSize(PHONE)
    const role = page.getByRole('combobox', { name: 'Approving role for activation' })
    await expect.poll(async () => (await role.boundingBox())?.width).toBeGreaterThan(250)
    await expect.poll(() => getOverflow(page)).toBe(0)
    await takeScreenshot(page, 'console-approval-policy-390')
    await page.setViewportSize(DESKTOP)
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.getByLabel('Jobs: retention in days').fill('60')
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Retention policy saved').waitFor()
    await takeScreenshot(page, 'console-retention')
    expect(seen).toEqual(noProblems)
    await close()
  })
})

describe('jobs', () => {
  const start = () =>
    w.runtime.database.write(fullScope(tenant_id, `user:${tara.user_id}`), (tx) =>
      w.kernel.jobs.enqueue(tx, { kind: 'slow-work', payload: {}, total: 3, unit: 'parts' }),
    )

  browserTest('show live progress from the Operations page to the result', async () => {
    await start()
    const { page, seen, close } = await at(tara, '/operations')
    await page.getByRole('status').getByText('Ready', { exact: true }).waitFor()
    const checks = page.getByRole('list', { name: 'Readiness checks' }).getByRole('listitem')
    await expect.poll(() => checks.filter({ hasText: 'Database' }).textContent()).toMatch(/ok$/)
    await page.getByRole('link', { name: 'Slow work' }).waitFor()
    allowSteps(1)
    await page.getByText('1 of 3 parts').waitFor()
    await takeScreenshot(page, 'console-operations')
    await page.getByRole('link', { name: 'Slow work' }).click()
    await page.getByText('1 of 3 parts').waitFor()
    allowSteps(1)
    await page.getByText('2 of 3 parts').waitFor()
    allowSteps(1)
    await page.getByText('succeeded', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('"parts": 3').waitFor()
    await takeScreenshot(page, 'console-job')
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be cancelled and restarted', async () => {
    const { job_id } = await start()
    const { page, seen, close } = await at(tara, `/jobs/${job_id}`)
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
    await page.getByRole('button', { name: 'Restart' }).click()
    allowSteps(3)
    await page.getByText('succeeded', { exact: true }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})
