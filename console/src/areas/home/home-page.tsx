/** The home page of a signed-in user: what needs them, by the roles they hold, and the portfolio. */
import { SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useToken } from '#console/session/session.ts'
import { RoleBadges } from '#console/ui/badges.tsx'
import { BreakGlassInbox } from '#console/ui/break-glass-inbox.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { AdministratorSections } from './administrator-sections.tsx'
import { AnalystSections } from './analyst-sections.tsx'
import { ApprovalInbox, OpenProposals } from './approval-sections.tsx'
import { AuditorSections } from './auditor-sections.tsx'
import { EditorSections } from './editor-sections.tsx'
import { Portfolio } from './portfolio.tsx'
import { Welcome } from './welcome.tsx'

export default function HomePage() {
  return useToken() === '' ? <Welcome /> : <SignedInHome />
}

function SignedInHome() {
  const me = useMe()
  const may = usePermission()
  const { data, error } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => probity.GET('/api/analytics/overview', { signal }),
    refetchInterval: 30_000,
    enabled: may('getOverview'),
    throwOnError: false,
  })
  return (
    <Page title={me.tenant.name} mark={<RoleBadges roles={me.roles} />} about={`What needs ${me.name ?? 'you'} today.`}>
      <Stack gap="md">
        <ProblemNote problem={isProblem(error) ? error : null} />
        {data === undefined && error === null && may('getOverview') && (
          <Skeleton height={240} aria-label="Loading what needs you" />
        )}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" verticalSpacing="md">
          <Stack gap="md">
            {data?.approvals && <ApprovalInbox of={data.approvals} />}
            {may('listBreakGlassInbox') && <BreakGlassInbox hidesEmpty />}
            {data?.analyst && <AnalystSections of={data.analyst} />}
            {data?.policy_editor && <EditorSections of={data.policy_editor} />}
            {data && (data.proposals.length > 0 || data.policy_editor) && <OpenProposals of={data.proposals} />}
          </Stack>
          <Stack gap="md">
            {may('getRiskDistribution') && <Portfolio />}
            {data?.auditor && <AuditorSections of={data.auditor} />}
            {data?.tenant_admin && <AdministratorSections of={data.tenant_admin} />}
          </Stack>
        </SimpleGrid>
      </Stack>
    </Page>
  )
}
