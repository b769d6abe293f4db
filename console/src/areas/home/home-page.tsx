/** The home page of a signed-in user: account, approvals, running jobs and server status. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useToken } from '#console/session/session.ts'
import { RoleBadges } from '#console/ui/badges.tsx'
import { BreakGlassInbox } from '#console/ui/break-glass-inbox.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Page } from '#console/ui/page.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { Inbox } from './inbox.tsx'
import { ReadinessChecks } from './readiness.tsx'
import { RunningJobs } from './running-jobs.tsx'
import { Welcome } from './welcome.tsx'

export default function HomePage() {
  return useToken() === '' ? <Welcome /> : <SignedInHome />
}

function SignedInHome() {
  const me = useMe()
  const may = usePermission()
  return (
    <Page title={me.tenant.name} about={`Signed in as ${me.name ?? me.principal}.`}>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" verticalSpacing="md">
        <Stack gap="md">
          {may('listChangeRequestInbox') && <Inbox />}
          {may('listBreakGlassInbox') && <BreakGlassInbox hidesEmpty />}
          <RunningJobs />
          <Section title="Server status">
            <ReadinessChecks />
          </Section>
        </Stack>
        <Stack gap="md">
          <Section title="Your account">
            <Facts
              of={[
                ['Name', me.name],
                ['Roles', <RoleBadges key="roles" roles={me.roles} />],
                ['Tenant', `${me.tenant.name} (${me.tenant.slug})`],
                ['Tenant id', <CopyValue key="tenant" value={me.tenant.tenant_id} name="the tenant id" />],
                ['Principal', <CopyValue key="principal" value={me.principal} name="the principal" />],
                ['Token expires', <RelativeTime key="ends" at={me.expires_at} />],
                ['Issuer', me.issuer],
              ]}
            />
            <Text size="xs" c="dimmed" mt="xs">
              {me.operations.length} API operations are available to you.
            </Text>
          </Section>
        </Stack>
      </SimpleGrid>
    </Page>
  )
}
