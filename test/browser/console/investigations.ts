/** An investigation: an analyst opens it, works through it and proposes an outcome; an officer closes it. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { fixtures } from '#modules/investigations/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import { at, browserTest, createPerson, jobWorker, noProblems, pageHeading, w } from './setup.ts'

const WIDE = { width: 1440, height: 900 }

const PLAYBOOK = {
  title: 'Short look',
  subject_types: ['person'],
  facts: [],
  clocks: [{ key: 'close', days: 20, day_kind: 'business' }],
  steps: [
    {
      key: 'funds',
      kind: 'task',
      title: 'Source of funds',
      with: { title: 'Establish the source of funds', role: 'analyst', checklist: ['Payslip seen'] },
      required: true,
    },
    {
      key: 'end',
      kind: 'task',
      title: 'End of the relationship',
      with: { title: 'Plan the end of the relationship', role: 'compliance_officer', checklist: ['Date agreed'] },
      needs: ['funds'],
      required: false,
    },
  ],
  outcomes: ['INV_NO_SUSPICION'],
}

/** In force for the tenant, which needs nobody else to approve it. */
async function putInForce(tenant: string): Promise<void> {
  const token = await w.token({ tenant_id: tenant, roles: ['policy_editor', 'compliance_officer'] })
  const send = async (route: string, body: object) => {
    const { status, json } = await w.call(route, { token, body })
    if (status >= 300) throw new Error(`${route}: ${JSON.stringify(json)}`)
  }
  await send('POST /playbooks', { playbook_key: 'short-look', title: PLAYBOOK.title, definition: PLAYBOOK })
  await send('POST /playbooks/short-look/versions/draft/publish', {})
  await send('POST /playbooks/short-look/activations', { version: 1, reason: 'Reviewed' })
}

async function expectFits(page: Page, name: string): Promise<void> {
  for (const viewport of [PHONE, WIDE]) {
    await page.setViewportSize(viewport)
    await expect.poll(() => getOverflow(page)).toBe(0)
    await takeScreenshot(page, `${name}-${viewport.width}`)
  }
}

async function takeOtherAct(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Other acts' }).click()
  await page.getByRole('menuitem', { name }).click()
}

/** From the page of a case. */
async function propose(page: Page, note: string): Promise<void> {
  await page.getByRole('button', { name: 'Propose an outcome' }).click()
  const dialog = page.getByRole('dialog', { name: 'Propose an outcome' })
  await dialog.getByRole('combobox', { name: 'Outcome' }).click()
  await page.getByRole('option').first().click()
  await dialog.getByLabel('Note for whoever closes it').fill(note)
  await takeScreenshot(page, 'console-case-propose')
  await dialog.getByRole('button', { name: 'Propose', exact: true }).click()
  await page.getByRole('button', { name: 'Withdraw the proposal' }).waitFor()
  // The page names who goes on.
  await page.getByRole('note', { name: 'Proposed' }).getByText('Waits for another compliance officer').waitFor()
}

/** From the page of a restricted case; the report belongs to its restriction. */
async function reportAndVerify(page: Page): Promise<void> {
  await takeOtherAct(page, 'Request a report')
  const dialog = page.getByRole('dialog', { name: 'Request a report' })
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Restriction' }).inputValue()).not.toBe('')
  await takeScreenshot(page, 'console-case-report')
  await dialog.getByRole('button', { name: 'Request', exact: true }).click()
  await page.getByRole('note', { name: 'Restricted' }).waitFor()
  await page.getByRole('table', { name: 'Files of the report' }).getByText('PDF').waitFor({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Identical: the same bytes were made again').waitFor({ timeout: 60_000 })
}

describe('an investigation', () => {
  browserTest('is opened, gathered, written with citations, proposed, and closed by an officer', async () => {
    const tenant = await w.makeTenant()
    await putInForce(tenant)
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const subject = await w.call('POST /subjects', {
      token: anton.token,
      body: { subject_type: 'person', name: 'Viktor Example', attributes: {} },
    })
    await w.call('POST /subjects', {
      token: anton.token,
      body: { subject_type: 'person', name: 'Maria Example', attributes: {} },
    })
    const report = { source: 'monitoring', dedup_key: 'cash', title: 'Five cash deposits', priority: 'high', facts: [] }
    const alert = await w.call('POST /alerts', {
      token: anton.token,
      body: { ...report, subject_id: subject.json.subject_id },
    })

    const { page, seen, close } = await at(anton, `/inbox/alerts/${alert.json.alert_id}`, { viewport: WIDE })
    await page.getByRole('button', { name: 'Escalate' }).click()
    const escalate = page.getByRole('dialog', { name: 'Escalate the alert' })
    await escalate.getByLabel('Why it needs an investigation').fill('The deposits stay below the threshold')
    await escalate.getByRole('combobox', { name: 'Playbook' }).click()
    await page.getByRole('option', { name: 'Short look' }).click()
    await escalate.getByRole('button', { name: 'Escalate' }).click()
    // The message leads to the case, which now belongs to whoever escalated.
    await page.getByRole('alert').getByText(', assigned to you').waitFor()
    await page.getByText('Investigated in INV-').waitFor()
    await page.getByRole('alert').getByRole('link', { name: /^INV-/ }).click()
    await pageHeading(page, /^INV-/).waitFor()
    await page.getByText('Assigned to you', { exact: true }).waitFor()
    const address = new URL(page.url()).pathname

    // There is one open case of a subject and playbook: whoever opens another joins it.
    await page.getByRole('main').getByRole('link', { name: 'Investigations' }).click()
    await page.getByRole('button', { name: 'Open a case' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Open a case' })
    await dialog.getByRole('combobox', { name: 'Subject' }).fill('Viktor')
    await page.getByRole('option', { name: 'Viktor Example' }).click()
    await dialog.getByRole('combobox', { name: 'Playbook' }).click()
    await page.getByRole('option', { name: 'Short look' }).click()
    await takeScreenshot(page, 'console-case-open')
    await dialog.getByRole('button', { name: 'Open the case' }).click()
    await page.waitForURL(`**${address}`)
    await pageHeading(page, /^INV-/).waitFor()
    await expect.poll(() => page.title()).toMatch(/^INV-[0-9A-Z]{4}-[0-9A-Z]{4} · Probity$/)
    expect(page.url()).not.toContain('Viktor')

    // What is missing leads to where it can be done.
    const missing = page.getByRole('group', { name: 'What is missing' })
    await missing.getByRole('button', { name: /Establish the source of funds/ }).click()
    await page.getByRole('listitem').and(page.locator(':focus')).getByText('Establish the source of funds').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Propose an outcome' }).isDisabled()).toBe(true)
    await page.getByText('Confirm every item first.').waitFor()
    await page.getByRole('checkbox', { name: 'Payslip seen' }).check()
    await page.getByRole('button', { name: 'Done', exact: true }).click()
    // The list of tasks answers after the case; the dialog waits for both, or the focus would be lost with the button.
    await page.route('**/tasks', async (route) => {
      await delay(300)
      await route.continue()
    })
    const ending = page.getByRole('dialog', { name: 'End the task' })
    await ending.getByLabel('What was found').fill('The employer confirms the salary')
    await ending.getByRole('button', { name: 'Done', exact: true }).click()
    await ending.waitFor({ state: 'hidden' })
    await expect.poll(() => page.evaluate('document.activeElement.id')).toMatch(/^task-/)
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByText('The employer confirms the salary').waitFor()
    await page.getByRole('list').getByText('done', { exact: true }).first().waitFor()
    await page.getByText('Opened after Source of funds. The case can be closed without it.').waitFor()

    // Keys open what they name.
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys of the case' }).getByText('Attach evidence').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('e')
    const attach = page.getByRole('dialog', { name: 'Attach evidence' })
    await attach.locator('input[type=file]').setInputFiles({
      name: 'payslip.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Salary March: 2,400 EUR'),
    })
    await attach.getByText('23 B').or(attach.getByText('SHA-256')).first().waitFor()
    await attach.getByLabel('Title').fill('Payslip of March')
    await attach.getByRole('button', { name: 'Attach', exact: true }).click()
    const item = page.getByRole('button', { name: /E1 Payslip of March/ })
    await item.click()
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('Salary March: 2,400 EUR').waitFor()

    // A fact without evidence is marked until it cites some: typing a bracket searches.
    await page.getByRole('button', { name: 'Add a fact' }).click()
    const paragraph = page.getByRole('textbox', { name: 'Paragraph 1' })
    await paragraph.fill('The salary explains the payments.')
    await page.getByText('A fact needs evidence').waitFor()
    await expectFits(page, 'console-case-fact')
    await paragraph.press('End')
    await paragraph.pressSequentially(' [pays')
    await page.getByRole('option', { name: /E1 Payslip of March/ }).waitFor()
    await takeScreenshot(page, 'console-case-cite')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Cited evidence' }).getByText('E1').waitFor()
    await expect.poll(() => paragraph.inputValue()).toBe('The salary explains the payments.')
    // A paragraph that is only begun is marked too.
    await page.getByRole('button', { name: 'Add an assessment' }).click()
    await page.getByRole('textbox', { name: 'Paragraph 2' }).fill('Conclusion:')
    await page.getByText('This paragraph is only begun').waitFor()
    await page.getByRole('button', { name: 'Remove paragraph 2' }).click()
    await paragraph.focus()
    await page.keyboard.press('Control+s')
    await page.getByText('Version 1,').waitFor()

    // Earlier versions stay readable, with what changed.
    await paragraph.fill('The salary explains the deposits.')
    await page.getByRole('button', { name: 'Save the narrative' }).click()
    await page.getByRole('button', { name: 'Add a fact' }).and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Earlier versions' }).click()
    const versions = page.getByRole('dialog', { name: 'Versions of the narrative' })
    await versions.getByText('Written by Anton Analyst').waitFor()
    await versions.locator('ins').first().waitFor()
    await expect.poll(() => versions.locator('del').allTextContents()).toEqual(['payments'])
    await expect.poll(() => versions.locator('ins').allTextContents()).toEqual(['deposits'])
    await takeScreenshot(page, 'console-case-versions')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Earlier versions' }).and(page.locator(':focus')).waitFor()

    // Letters lead to the other parts.
    await page.keyboard.press('o')
    await page.getByRole('textbox', { name: 'Note' }).fill('The branch knows the customer')
    await page.getByRole('button', { name: 'Write the note' }).click()
    await page.getByRole('list', { name: 'Notes, newest first' }).getByText('The branch knows the customer').waitFor()
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('r')
    await page.getByRole('region', { name: 'Alerts' }).getByText('Five cash deposits').waitFor()
    await page.getByRole('button', { name: 'Add a subject' }).click()
    await page.getByRole('dialog', { name: 'Add a subject' }).getByRole('combobox', { name: 'Subject' }).fill('Maria')
    await page.getByRole('option', { name: 'Maria Example' }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).last().click()
    await page.getByRole('region', { name: 'Subjects' }).getByText('Maria Example').waitFor()
    await expectFits(page, 'console-case-related')

    // The file of an answer becomes evidence.
    await page.getByRole('tab', { name: 'Requests' }).click()
    await page.getByRole('button', { name: 'Ask for information' }).click()
    const asking = page.getByRole('dialog', { name: 'Ask for information' })
    await asking.getByLabel('Who is asked').fill('The employer')
    await asking.getByLabel('Question').fill('Since when is he employed?')
    await asking.getByRole('button', { name: 'Record the request' }).click()
    await page.getByRole('button', { name: 'Record the answer' }).click()
    const answering = page.getByRole('dialog', { name: 'Record the answer' })
    await answering.locator('input[type=file]').setInputFiles({
      name: 'contract.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Employed since 2019'),
    })
    await answering.getByText('contract.txt, 19 bytes').waitFor()
    await takeScreenshot(page, 'console-case-answer')
    await answering.getByRole('button', { name: 'Store the answer' }).click()
    await page
      .getByRole('list', { name: 'Information requests' })
      .getByText(/evidence E2/)
      .waitFor()

    await propose(page, 'The payslip answers the question')
    // What was proposed stays as it is.
    await expect.poll(() => page.getByRole('button', { name: 'Attach' }).isDisabled()).toBe(true)
    await page.getByText('Evidence cannot be changed while an outcome is proposed').waitFor()
    expect(seen).toEqual(noProblems)
    await close()

    // An officer returns it: the reason is on the home page and on the case until it is proposed again.
    const returning = await at(clara, address)
    await returning.page.getByRole('button', { name: 'Return' }).click()
    const reason = returning.page.getByRole('dialog', { name: 'Return the case' })
    await reason.getByLabel('Reason').fill('Name the employer')
    await reason.getByRole('button', { name: 'Return' }).click()
    await returning.page.getByRole('note', { name: 'Returned' }).waitFor()
    await returning.close()
    const returned = await at(anton, '/', { viewport: WIDE })
    const region = returned.page.getByRole('region', { name: 'Returned to you' })
    await region.getByText('Name the employer').waitFor()
    await takeScreenshot(returned.page, 'console-home-returned')
    await region.getByRole('link', { name: /^INV-/ }).click()
    const banner = returned.page.getByRole('note', { name: 'Returned' })
    await banner.getByText('Returned by Clara Compliance').waitFor()
    await banner.getByText('Name the employer').waitFor()
    await expectFits(returned.page, 'console-case-returned')
    await propose(returned.page, 'The employer is the city of Bremen')
    await banner.waitFor({ state: 'hidden' })
    await returned.close()

    // The officer is led to it; the proposer is not.
    const waiting = await at(clara, '/')
    const asked = waiting.page.getByRole('region', { name: 'Needs a second person' })
    await asked.getByRole('link', { name: /^Close: INV-/ }).waitFor()
    await waiting.page.goto(new URL('/inbox?view=second-person', waiting.page.url()).href)
    const cases = waiting.page.getByRole('region', { name: 'Investigations' })
    await cases.getByRole('link', { name: /^INV-/ }).waitFor()
    await expectFits(waiting.page, 'console-inbox-proposed')
    await waiting.close()
    const own = await at(anton, '/inbox?view=mine')
    await own.page.getByRole('region', { name: 'Investigations' }).getByRole('link', { name: /^INV-/ }).waitFor()
    await own.page.getByRole('button', { name: /^Second person/ }).click()
    await own.page.getByText('Nothing waits for a second person').waitFor()
    await expect.poll(() => own.page.getByRole('region', { name: 'Investigations' }).count()).toBe(0)
    await own.close()

    const officer = await at(clara, `${address}?tab=timeline`, { viewport: WIDE })
    const timeline = officer.page.getByRole('list', { name: 'Timeline, newest first' })
    await timeline.getByText('Proposed').first().waitFor()
    // Beginnings of steps are in groups that are closed at first.
    for (const group of await timeline.getByText('events of steps under way').all()) await group.click()
    await timeline.getByText('by the playbook').first().waitFor()
    await expectFits(officer.page, 'console-case-proposed')
    await takeOtherAct(officer.page, 'Restrict')
    const restrict = officer.page.getByRole('dialog', { name: 'Restrict the case' })
    await restrict.getByRole('combobox', { name: 'People with access' }).fill('Anton')
    await officer.page.getByRole('option', { name: /^Anton Analyst/ }).click()
    await restrict.getByLabel('Reason').fill('The customer must not learn of it')
    await restrict.getByRole('button', { name: 'Restrict' }).click()
    await officer.page.getByRole('note', { name: 'Restricted' }).getByText('2 people by name').waitFor()
    await expect.poll(() => officer.page.title()).toMatch(/^INV-/)
    await expectFits(officer.page, 'console-case-restricted')
    await officer.page.getByRole('button', { name: 'Close the case' }).click()
    const closing = officer.page.getByRole('dialog', { name: 'Close the case' })
    await closing.getByText('The employer is the city of Bremen').waitFor()
    await closing.getByRole('button', { name: 'Close the case' }).click()
    await officer.page.getByText('closed', { exact: true }).first().waitFor()
    await officer.page.getByText(/proposed by Anton Analyst \d.*, closed by Clara Compliance/).waitFor()
    // Nobody waits for a step of a closed case.
    await expect.poll(() => officer.page.getByText('not needed', { exact: true }).count()).toBe(2)
    await takeScreenshot(officer.page, 'console-case-closed')
    const [pack] = await Promise.all([
      officer.page.waitForEvent('download'),
      officer.page.getByRole('button', { name: 'Examiner’s package' }).click(),
    ])
    const file = pack.suggestedFilename()
    expect(file).toMatch(/^INV-.*\.zip$/)
    const verifying = officer.page.getByRole('dialog', { name: `${file} was downloaded` })
    await verifying.getByText(new RegExp(`^npx probity verify pack ${file} --key [\\w-]{43}$`)).waitFor()
    await takeScreenshot(officer.page, 'console-case-pack')
    await officer.page.keyboard.press('Escape')
    await reportAndVerify(officer.page)
    // A restriction names what it hides.
    await officer.page.goto(new URL('/restrictions', officer.page.url()).href)
    const hidden = officer.page.getByRole('table', { name: 'Restrictions' })
    await hidden.getByRole('link', { name: /^Case INV-/ }).waitFor()
    await expectFits(officer.page, 'console-restricted-case')
    await officer.page.goto(new URL('/investigations', officer.page.url()).href)
    const subjectCell = officer.page.getByRole('cell', { name: 'Viktor Example', exact: true })
    await subjectCell.waitFor()
    await expect.poll(() => officer.page.getByText('partly gathered').count()).toBe(0)
    await expectFits(officer.page, 'console-cases')
    await subjectCell.click()
    await pageHeading(officer.page, /^INV-/).waitFor()
    await takeOtherAct(officer.page, 'Open again')
    const reopening = officer.page.getByRole('dialog', { name: 'Open the case again' })
    await reopening.getByLabel('Reason').fill('A new deposit')
    await reopening.getByRole('button', { name: 'Open again' }).click()
    await officer.page.getByText('open', { exact: true }).first().waitFor()
    const again = officer.page.getByRole('note', { name: 'Opened again' })
    await again.getByText('A new deposit').waitFor()
    await again.getByText('Anton Analyst').waitFor()
    await officer.page.getByRole('button', { name: '1 earlier seal' }).waitFor()
    await officer.page.getByRole('button', { name: 'Take the case' }).waitFor()
    // The menu is gone, so the focus is where a screen reader begins to read.
    await officer.page.getByRole('heading', { level: 1 }).and(officer.page.locator(':focus')).waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })

  browserTest('gets a step from a person, waives it, and settles a call whose outcome is unknown', async () => {
    const tenant = await ExampleTenant.create(w)
    // The fixture ends the step by hand, before a worker does.
    await jobWorker.stop()
    const fixture = await fixtures['settleInvestigationStep']?.(tenant, 'compliance_officer')
    jobWorker.start()
    const officer = await createPerson('Carl Compliance', ['compliance_officer'], { tenant: tenant.tenant_id })
    const { page, seen, close } = await at(officer, `/investigations/${fixture?.params?.['investigation_id']}`, {
      viewport: WIDE,
    })
    await pageHeading(page, /^INV-/).waitFor()
    await page.keyboard.press('s')
    const adding = page.getByRole('dialog', { name: 'Add a step' })
    await adding.getByLabel('Title').fill('Call the branch')
    await adding.getByLabel('Checklist').fill('The adviser was reached')
    await adding.getByRole('button', { name: 'Add the step' }).click()
    await page.getByRole('checkbox', { name: 'The adviser was reached' }).waitFor()

    // A call of a provider has the fields that it needs.
    await page.getByRole('button', { name: 'Add a step' }).click()
    await adding.getByRole('combobox', { name: 'What happens in it' }).click()
    await page.getByRole('option', { name: 'A call of a provider' }).click()
    await adding.getByLabel('Title').fill('Look it up')
    await adding.getByRole('combobox', { name: 'What is asked' }).click()
    await page.getByRole('option', { name: /registry lookup$/ }).click()
    await adding.getByRole('button', { name: 'Add the step' }).click()
    await adding.getByText('The provider needs a value.').waitFor()
    await adding.getByLabel('Key').fill('DE')
    await adding.getByRole('button', { name: 'Add the step' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Look it up' }).getByText('Answer: not found.').waitFor()

    await page.getByRole('button', { name: 'Waive Call the branch' }).click()
    const waiving = page.getByRole('dialog', { name: 'Waive Call the branch' })
    await waiving.getByLabel('Why the case can do without it').fill('The branch is closed')
    await waiving.getByRole('button', { name: 'Waive the step' }).click()
    await page.getByText('“The branch is closed”').waitFor()
    await page.getByText(/\d+ of \d+ steps done, 1 waived/).waitFor()
    const task = page.getByRole('listitem').filter({ hasText: 'The adviser was reached' })
    await task.getByText('Its step was waived.').waitFor()
    await takeScreenshot(page, 'console-investigation-waived-task')
    await page.getByRole('button', { name: 'Begin Call the branch after all' }).click()
    await page.getByRole('button', { name: 'Waive Call the branch' }).waitFor()
    await task.getByText('Its step was waived.').waitFor({ state: 'detached' })
    await expect.poll(() => task.count()).toBe(1)

    const step = page.getByRole('listitem').filter({ hasText: 'unknown outcome' })
    await step.getByRole('button', { name: /^Waive / }).click()
    const waivingUnknown = page.getByRole('dialog', { name: /^Waive / })
    await waivingUnknown.getByText('The provider may have answered this call', { exact: false }).waitFor()
    await waivingUnknown.getByRole('button', { name: 'Cancel' }).click()
    await waivingUnknown.waitFor({ state: 'hidden' })
    await step.getByRole('button', { name: /^Settle / }).click()
    const settling = page.getByRole('dialog', { name: /^Settle / })
    await settling.getByText('Enter the answer').click()
    await settling.getByRole('textbox', { name: 'Answer' }).waitFor()
    await takeScreenshot(page, 'console-case-settle')
    await settling.getByText('Call again').first().click()
    await settling.getByLabel('How it is known what the provider did').fill('The provider received nothing')
    await settling.getByRole('button', { name: 'Call again' }).click()
    await settling.waitFor({ state: 'hidden' })
    await step.waitFor({ state: 'detached' })
    // The button is gone; the focus stays at its step.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toMatch(/^step-/)
    await expectFits(page, 'console-case-settled')

    // Another case of the subject goes over to this one.
    const { subject } = await tenant.make(`GET /investigations/${fixture?.params?.['investigation_id']}`)
    const body = { subject_id: subject.subject_id, playbook_key: 'sanctions-match' }
    const other = await tenant.make('POST /investigations', { body })
    await page.goto(new URL(`/investigations/${other.investigation_id}`, page.url()).href)
    // Its revision changes while it gathers.
    await page.getByText('partly gathered').waitFor()
    await page.getByText('Left out: needed only if subject type is').first().waitFor()
    await takeOtherAct(page, 'Merge into another case')
    const merging = page.getByRole('dialog', { name: 'Merge into another case' })
    await merging.getByRole('combobox', { name: 'Case to keep' }).click()
    await page.getByRole('option').first().click()
    await merging.getByLabel('Reason').fill('The same facts')
    await merging.getByRole('list', { name: 'What ends as not needed' }).getByRole('listitem').first().waitFor()
    await takeScreenshot(page, 'console-case-merge')
    await merging.getByRole('button', { name: 'Merge' }).click()
    await page.getByRole('link', { name: /^Merged into INV-/ }).waitFor()
    // The caller of the fixture has no account, so its name is not found.
    expect({ ...seen, failed: [] }).toEqual(noProblems)
    await close()
  })
})
