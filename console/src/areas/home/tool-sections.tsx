/** Tool calls that wait for a person, and tools of other servers in quarantine. Shown only where there are some. */
import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMe } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { formatCount, formatOperation } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { CallTargets, hasTargets } from '#console/ui/tool/call-targets.tsx'
import { toolServersQuery, waitingApprovalsQuery } from '#console/ui/tool/tool-queries.ts'
import { WaitingRows } from './row-list.tsx'

/** Without the viewer's own: another person decides about those. */
export function WaitingToolCalls() {
  const me = useMe()
  const { data, isLoading } = useQuery({ ...waitingApprovalsQuery, throwOnError: false })
  useFirstAnswer(isLoading)
  const waiting = (data?.items ?? []).filter((one) => one.requested_by !== me.principal && !one.running)
  return (
    <WaitingRows
      title="Tool calls waiting for a person"
      link={
        <PageLink to="/tools/approvals" size="sm">
          Open the approvals
        </PageLink>
      }
      rows={waiting.map((one) => ({
        key: one.approval_id,
        link: (
          <PageLink to="/tools/approvals" size="sm" fw={500}>
            <span className="mono">{one.tool}</span>
            {hasTargets(one.arguments) && ': '}
            <CallTargets of={one.arguments} hasLinks={false} />
          </PageLink>
        ),
        detail: (
          <>
            {formatOperation(one.operation)}, asked for <Principal of={one.requested_by} />{' '}
            <RelativeTime at={one.requested_at} />, expires <RelativeTime at={one.expires_at} />
          </>
        ),
        mark: <RestrictionMark restriction_id={one.restriction_id} />,
      }))}
    />
  )
}

export function QuarantinedTools() {
  const { data, isLoading } = useQuery({ ...toolServersQuery, throwOnError: false })
  useFirstAnswer(isLoading)
  const concerned = (data ?? []).filter(({ tools_quarantined }) => tools_quarantined > 0)
  return (
    <WaitingRows
      title="Tools in quarantine"
      link={
        <PageLink to="/tools/servers" size="sm">
          All tool servers
        </PageLink>
      }
      rows={concerned.map((server) => ({
        key: server.server_key,
        link: (
          <PageLink to={`/tools/servers/${server.server_key}`} size="sm" fw={500}>
            {server.title}
          </PageLink>
        ),
        detail: 'It offers something else than what was reviewed. Review and pin it again, or take it out of use.',
        mark: (
          <Badge variant="light" color="red" tt="none" miw="max-content">
            {formatCount(server.tools_quarantined, 'tool')}
          </Badge>
        ),
      }))}
    />
  )
}
