/** One change request: the exact change, its history, and approval. */
import { Grid, Stack, Text, Timeline } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { useApprovalGates } from '#console/ui/change-request/use-approval-gates.ts'
import { useChangeText } from '#console/ui/change-request/use-target-name.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Section } from '#console/ui/section.tsx'
import { Decision } from './decision.tsx'
import { ApprovalGates } from './gates.tsx'
import { hasDifference, hasImpact, Impact, VersionDifference } from './impact.tsx'
import { RequestDetails, RequestedChange } from './requested-change.tsx'

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
    <Page
      title={toSentence(request.action)}
      mark={<StateBadge state={request.state} />}
      trail={breadcrumb}
      restriction_id={request.restriction_id}
    >
      <Section title="Requested change">
        <Text size="sm">The content is visible to roles that can make or approve this change, and to auditors.</Text>
      </Section>
    </Page>
  )
}

function FullRequest({ request }: { readonly request: ChangeRequest }) {
  const text = useChangeText(request)
  const { isVoid, isBlocked, refusal } = useApprovalGates(request)
  return (
    <Page
      title={text}
      mark={<StateBadge state={isVoid ? 'no longer applicable' : request.state} />}
      about={
        <>
          Requested by <Principal of={request.created_by} />
          {describeAssistant(request)}, <RelativeTime at={request.created_at} />
        </>
      }
      trail={breadcrumb}
      restriction_id={request.restriction_id}
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <RequestedChange request={request} text={text} isVoid={isVoid} />
            {hasDifference(request) && <VersionDifference request={request} isVoid={isVoid} />}
            {hasImpact(request) && <Impact request={request} isVoid={isVoid} />}
            <RequestDetails request={request} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="md">
            <Decision request={request} isVoid={isVoid} isBlocked={isBlocked} refusal={refusal} />
            <ApprovalGates request={request} />
            <Section title="History">
              <RequestHistory request={request} />
            </Section>
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

/** Whoever approves should know that a program wrote the proposal. */
const describeAssistant = ({ via, client }: ChangeRequest): string =>
  via !== 'mcp' ? '' : client === null ? ' through an assistant' : ` through an assistant (${client})`

function RequestHistory({ request }: { readonly request: ChangeRequest }) {
  const missing = request.approvers - request.approvals.length
  const isDecidedByOne = !['open', 'approved'].includes(request.state)
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
          <Step
            by={request.decided_by}
            at={request.decided_at}
            note={request.state === 'void' ? 'Its subject was erased, and its content with it.' : request.decision_note}
          />
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
      {note && (
        <Text size="sm" className="break">
          “{note}”
        </Text>
      )}
    </>
  )
}
