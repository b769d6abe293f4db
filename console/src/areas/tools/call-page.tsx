/** One call of a tool: caller, program, hashes, outcome and its audit event. */
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { formatOperation } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { escapeText } from '#console/ui/tool/escape-text.ts'
import { CallOutcomeBadge } from '#console/ui/tool/tool-badges.tsx'
import { toolsQuery } from '#console/ui/tool/tool-queries.ts'
import { describeCallProblem, formatClient } from '#console/ui/tool/tool-texts.ts'

export default function ToolCallPage() {
  const { call_id = '' } = useParams({ strict: false }) as { call_id?: string }
  const may = usePermission()
  const { data: call } = useSuspenseQuery({
    queryKey: ['tool-calls', 'one', call_id],
    queryFn: ({ signal }) => probity.GET('/api/mcp/calls/{call_id}', { params: { path: { call_id } }, signal }),
  })
  const { data: tools } = useQuery({ ...toolsQuery, throwOnError: false })
  const title = tools?.items.find(({ tool }) => tool === call.tool)?.title
  return (
    <Page
      title={title ?? escapeText(call.tool)}
      mark={<CallOutcomeBadge problem={call.problem} />}
      about={
        <>
          Called <RelativeTime at={call.called_at} /> by <Principal of={call.principal} isAlwaysNamed />
          {call.client !== null && `, with ${formatClient(call.client)}`}.
        </>
      }
      trail={
        <PageLink to="/tools/calls" inherit>
          Tool calls
        </PageLink>
      }
      actions={
        may('getAuditEvent') && (
          <ButtonLink to={`/audit/events/${call.call_id}`} variant="default">
            Open the audit event
          </ButtonLink>
        )
      }
      restriction_id={call.restriction_id}
      width="text"
    >
      <Stack gap="md">
        {call.problem !== null && (
          <Alert color={call.problem === 'tool_approval_required' ? 'orange' : 'red'} role="status">
            <Text size="sm">
              {describeCallProblem(call.problem)} <span className="mono">{call.problem}</span>
            </Text>
          </Alert>
        )}
        <Section title="Details">
          <Facts
            of={[
              [
                'Tool',
                <SearchLink key="tool" to="/tools/calls" search={{ tool: call.tool }} inherit className="mono break">
                  {escapeText(call.tool)}
                </SearchLink>,
              ],
              ['Does', call.operation === null ? 'There is no such tool.' : formatOperation(call.operation)],
              ['Called', <DateTime key="at" at={call.called_at} />],
              ['Duration', `${call.duration_ms.toLocaleString('en')} ms`],
              ['Program', formatClient(call.client)],
              ['Hash of the arguments', <CopyValue key="arguments" value={call.arguments_hash} name="the hash" />],
              [
                'Hash of the result',
                call.result_hash === null ? 'no result' : <CopyValue value={call.result_hash} name="the result hash" />,
              ],
              call.approval_id !== null && [
                'Approval',
                may('listToolApprovals') ? (
                  <SearchLink key="approval" to="/tools/approvals" search={{ state: 'all' }} inherit>
                    Among the approvals
                  </SearchLink>
                ) : (
                  'A person had to approve it.'
                ),
              ],
              ['Request', <CopyValue key="request" value={call.request_id} name="the request id" />],
              ['Call', <CopyValue key="call" value={call.call_id} name="the call id" />],
            ]}
          />
        </Section>
      </Stack>
    </Page>
  )
}
