/** One change request: the exact change, its history, and approval. */
import { Grid, SimpleGrid, Stack, Text, Timeline } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatOperation, toSentence, toWords } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { Decision } from './decision.tsx'
import { hasImpact, Impact, VersionDifference } from './impact.tsx'

type ChangeRequest = Schemas['ChangeRequest']

const requestQuery = (cr_id: string) =>
  queryOptions({
    queryKey: ['change-requests', cr_id],
    queryFn: ({ signal }) => probity.GET('/api/change-requests/{cr_id}', { params: { path: { cr_id } }, signal }),
    refetchInterval: 15_000,
  })

export default function ChangeRequestPage() {
  const { cr_id = '' } = useParams({ strict: false }) as { cr_id?: string }
  const { data: request } = useSuspenseQuery(requestQuery(cr_id))
  return 'operation' in request ? <FullRequest request={request} /> : <RequestSummary request={request} />
}

const breadcrumb = (
  <PageLink to="/change-requests" inherit>
    Change requests
  </PageLink>
)

function RequestSummary({ request }: { readonly request: Schemas['ChangeRequestSummary'] }) {
  return (
    <Page title={toSentence(request.action)} mark={<StateBadge state={request.state} />} trail={breadcrumb}>
      <Section title="Requested change">
        <Text size="sm">The content is visible to roles that can make or approve this change, and to auditors.</Text>
      </Section>
    </Page>
  )
}

function FullRequest({ request }: { readonly request: ChangeRequest }) {
  return (
    <Page
      title={formatOperation(request.operation)}
      mark={<StateBadge state={request.state} />}
      about={`Approval rule: ${toSentence(request.action)}. Approval executes exactly the change shown here.`}
      trail={breadcrumb}
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="md">
            <Section title="Requested change">
              <Facts
                of={[
                  ...Object.entries(request.params).map(
                    ([name, value]) => [toSentence(name), <Parameter key={name} name={name} value={value} />] as const,
                  ),
                  ...Object.entries(request.query).map(([name, value]) => [toSentence(name), String(value)] as const),
                ]}
              />
              <JsonBlock value={request.body} name="Request body" />
            </Section>
            <Section title="Request details">
              <Facts
                of={[
                  ['Content hash', <CopyValue key="hash" value={request.content_hash} name="the content hash" />],
                  ['Based on', request.head === null ? 'no stored revision' : `revision ${request.head}`],
                  ['Change request id', <CopyValue key="id" value={request.cr_id} name="the request id" />],
                ]}
              />
              <Text size="xs" c="dimmed" mt="xs">
                If the target has changed since the request was made, approval fails and changes nothing.
              </Text>
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="md">
            <Decision request={request} />
            <Section title="History">
              <RequestHistory request={request} />
            </Section>
          </Stack>
        </Grid.Col>
        {hasImpact(request) && (
          <Grid.Col span={12}>
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
              <VersionDifference request={request} />
              <Impact request={request} />
            </SimpleGrid>
          </Grid.Col>
        )}
      </Grid>
    </Page>
  )
}

const objectPages: Readonly<Record<string, string>> = {
  list_key: '/datasets',
  matrix_key: '/matrices',
  rule_key: '/rules',
}

/** Links a parameter to the page of its object, if there is one. */
function Parameter({ name, value }: { readonly name: string; readonly value: string }) {
  if (name === 'user_id') return <Principal of={`user:${value}`} />
  const place = objectPages[name]
  if (place === undefined) return <span className="mono">{value}</span>
  return (
    <PageLink to={`${place}/${value}`} size="sm" className="mono">
      {value}
    </PageLink>
  )
}

function RequestHistory({ request }: { readonly request: ChangeRequest }) {
  const missing = request.approvers - request.approvals.length
  const isDecidedByOne = request.state === 'rejected' || request.state === 'withdrawn'
  return (
    <Timeline bulletSize={14} lineWidth={2} active={request.approvals.length + (isDecidedByOne ? 1 : 0)}>
      <Timeline.Item title="Requested">
        <Step by={request.created_by} at={request.created_at} note={null} />
      </Timeline.Item>
      {request.approvals.map((approval) => (
        <Timeline.Item key={approval.approved_by} title="Approved">
          <Step by={approval.approved_by} at={approval.approved_at} note={approval.note} />
        </Timeline.Item>
      ))}
      {request.decided_by !== null && request.decided_at !== null && isDecidedByOne && (
        <Timeline.Item title={toSentence(request.state)}>
          <Step by={request.decided_by} at={request.decided_at} note={request.decision_note} />
        </Timeline.Item>
      )}
      {request.state === 'open' && (
        <Timeline.Item title="Waiting for approval" lineVariant="dashed">
          <Text size="sm" c="dimmed">
            {missing} more with the role {toWords(request.required_role)}
          </Text>
        </Timeline.Item>
      )}
    </Timeline>
  )
}

interface StepProps {
  readonly by: string
  readonly at: string
  readonly note: string | null
}

function Step({ by, at, note }: StepProps) {
  return (
    <>
      <Text size="sm" c="dimmed">
        by <Principal of={by} />, <DateTime at={at} />
      </Text>
      {note && <Text size="sm">“{note}”</Text>}
    </>
  )
}
