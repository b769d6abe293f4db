/** The home page of a signed-in user: what needs them, by the roles they hold, and the portfolio. */
import './home.css'
import { Stack } from '@mantine/core'
import { isProblem, type OperationId, type Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useToken } from '#console/session/session.ts'
import { RoleBadges } from '#console/ui/badges.tsx'
import { BreakGlassInbox } from '#console/ui/break-glass-inbox.tsx'
import { FirstAnswers } from '#console/ui/first-answers.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { GuidedStart } from '../guide/guided-start.tsx'
import { AdministratorSections, KeysToCheck, MissingCredentials } from './administrator-sections.tsx'
import { AnalystSections } from './analyst-sections.tsx'
import { ApprovalInbox, OpenProposals } from './approval-sections.tsx'
import { LastVerification, PolicyChanges } from './auditor-sections.tsx'
import { DueDefinitions, EditorSections } from './editor-sections.tsx'
import { InboxSection } from './inbox-section.tsx'
import { Portfolio } from './portfolio.tsx'
import { QuarantinedPayloads } from './quarantined-payloads.tsx'
import { ReturnedCases } from './returned-cases.tsx'
import { SecondPersonSection } from './second-person-section.tsx'
import { StoppedPlugins } from './stopped-plugins.tsx'
import { QuarantinedTools, WaitingToolCalls } from './tool-sections.tsx'
import { UnknownOutcomes } from './unknown-outcomes.tsx'
import { Welcome } from './welcome.tsx'

export default function HomePage() {
  return useToken() === '' ? <Welcome /> : <SignedInHome />
}

function SignedInHome() {
  const me = useMe()
  const may = usePermission()
  // Viewers and services have nothing to act on.
  const hasTasks = me.roles.some((role) => role !== 'viewer' && role !== 'service')
  const { data, error } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => probity.GET('/api/analytics/overview', { signal }),
    refetchInterval: 30_000,
    enabled: may('getOverview'),
    throwOnError: false,
  })
  return (
    <Page
      title={me.tenant.name}
      mark={<RoleBadges roles={me.roles} />}
      about={`Signed in as ${me.name ?? me.principal}.`}
    >
      <Stack gap="md">
        <GuidedStart />
        <ProblemNote problem={isProblem(error) ? error : null} />
        <div className="home-columns">
          {hasTasks && (
            <div>
              <FirstAnswers isWaiting={data === undefined && error === null && may('getOverview')}>
                <FirstColumn of={data ?? {}} />
              </FirstAnswers>
            </div>
          )}
          <Stack gap="md">
            {may('getRiskDistribution') && <Portfolio />}
            {data && (data.proposals.length > 0 || data.policy_editor) && <OpenProposals of={data.proposals} />}
            {data?.auditor && <PolicyChanges of={data.auditor.policy_changes} />}
            {data?.tenant_admin && <AdministratorSections of={data.tenant_admin} />}
          </Stack>
        </div>
      </Stack>
    </Page>
  )
}

const secondPersonOperations: readonly OperationId[] = [
  'confirmAlertDismissal',
  'closeInvestigation',
  'confirmErasure',
  'confirmMlroDesignation',
]

/** What the user has to act on. Sections that do not need the overview are asked for at the same time as it. */
function FirstColumn({ of }: { readonly of: Partial<Schemas['Overview']> }) {
  const may = usePermission()
  const { approvals, analyst, policy_editor, auditor, tenant_admin, definitions_due } = of
  return (
    <>
      {may('updateInvestigationNarrative') && <ReturnedCases />}
      {may('listOwnWork') && <InboxSection />}
      {secondPersonOperations.some(may) && <SecondPersonSection />}
      {approvals && <ApprovalInbox of={approvals} />}
      {may('approveToolCall') && <WaitingToolCalls />}
      {may('listBreakGlassInbox') && <BreakGlassInbox hidesEmpty />}
      {analyst && <AnalystSections of={analyst} />}
      {policy_editor && <EditorSections of={policy_editor} />}
      {may('disablePlugin') && <StoppedPlugins />}
      {may('pinServerTool') && <QuarantinedTools />}
      {may('answerProviderCall') && <UnknownOutcomes />}
      {may('listSourceContractActivity') && <QuarantinedPayloads />}
      {definitions_due && (policy_editor || definitions_due.length > 0) && <DueDefinitions of={definitions_due} />}
      {auditor && <LastVerification of={auditor.last_verification} />}
      {may('listCredentialGaps') && <MissingCredentials hidesEmpty={!tenant_admin} />}
      {tenant_admin && <KeysToCheck of={tenant_admin.keys_to_check} />}
    </>
  )
}
