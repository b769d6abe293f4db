/** What a change request would change, before and after, in words; the stored request is under "Details". */
import '../../ui/registry.css'
import { Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { Fragment } from 'react'
import { type ChangeRow, toRequestRows } from '#console/ui/change-request/change-rows.ts'
import { getChangeTarget, getReason, getTargetOrigin } from '#console/ui/change-request/describe-change.ts'
import { getTargetPage } from '#console/ui/change-request/use-target-name.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { toSentence } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { PlaybookGaps } from '#console/ui/provider/playbook-gaps.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { CredentialNote } from './credential-note.tsx'

type ChangeRequest = Schemas['ChangeRequest']

/** Long changes are cut, so that approval stays in sight; the rest is in the request. */
const MAX_ROWS = 60

interface RequestedChangeProps {
  readonly request: ChangeRequest
  readonly text: string
  /** What it is based on has changed since. */
  readonly isVoid: boolean
}

export function RequestedChange({ request, text, isVoid }: RequestedChangeProps) {
  const target = getChangeTarget(request)
  const page = target && getTargetPage(target)
  // What cannot be approved has no start.
  const rows = toRequestRows(isVoid ? { ...request, state: 'withdrawn' } : request)
  const reason = getReason(request)
  return (
    <Section
      title="What changes"
      actions={
        page && (
          <PageLink to={page.to} size="sm">
            {page.label}
          </PageLink>
        )
      }
    >
      <Stack gap="sm">
        {rows.length === 0 && <Text size="sm">{text}.</Text>}
        {rows.length > 0 && <BeforeAfter rows={rows.slice(0, MAX_ROWS)} sides={getSides(request, isVoid)} />}
        {rows.length > MAX_ROWS && (
          <Text size="sm" c="dimmed">
            {rows.length - MAX_ROWS} more changes stand in the request below.
          </Text>
        )}
        {request.operation === 'activateCredentialVersion' && <CredentialNote request={request} />}
        {!isVoid && <RequestedPlaybook request={request} />}
        {reason !== null && (
          <Text size="sm" className="break">
            <Text span inherit c="dimmed">
              Reason given:
            </Text>{' '}
            “{reason}”
          </Text>
        )}
      </Stack>
    </Section>
  )
}

/** Whoever approves should know that no case could be opened by it. */
function RequestedPlaybook({ request }: { readonly request: ChangeRequest }) {
  const { params, state, body } = request
  const { playbook_key } = params
  const { version, to_version = version } = (body ?? {}) as { version?: number; to_version?: number }
  const named = to_version ?? Number(params['version'])
  if (state !== 'open' || playbook_key === undefined || !Number.isInteger(named)) return null
  return <PlaybookGaps playbook_key={playbook_key} version={named} origin={getTargetOrigin(request)} />
}

const SIDES = ['Now', 'After approval'] as const
const PAST_SIDES = ['Before', 'Since the approval'] as const
const VOID_SIDES = ['When it was requested', 'Requested'] as const

function getSides({ state }: ChangeRequest, isVoid: boolean) {
  if (state === 'approved') return PAST_SIDES
  return state === 'open' && !isVoid ? SIDES : VOID_SIDES
}

/** Names of tools are long words: they may break after an underscore. */
const BreakableName = ({ of }: { readonly of: string }) =>
  of.split(/(?<=_)/).map((part, place) => (
    <Fragment key={place}>
      {place > 0 && <wbr />}
      {part}
    </Fragment>
  ))

interface BeforeAfterProps {
  readonly rows: readonly ChangeRow[]
  readonly sides: readonly [before: string, after: string]
}

function BeforeAfter({ rows, sides }: BeforeAfterProps) {
  return (
    <table className="changes" aria-label="Before and after">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">{sides[0]}</th>
          <th scope="col">{sides[1]}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ label, before, after }) => (
          <tr key={label}>
            <th scope="row">
              <BreakableName of={label} />
            </th>
            <td className={before === null ? 'nothing' : 'before'}>
              <span className="side-word narrow-word">{sides[0]}</span>
              <span className="lines">{before ?? 'not set'}</span>
            </td>
            <td className={after === null ? 'nothing' : 'after'}>
              <span className="side-word narrow-word">{sides[1]}</span>
              <span className="lines">{after ?? 'removed'}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The request exactly as it is stored and will be executed. */
export function RequestDetails({ request }: { readonly request: ChangeRequest }) {
  return (
    <details className="request-details">
      <summary>Details: stored request, content hash, revision</summary>
      <Stack gap="sm" mt="sm">
        <Facts
          of={[
            [
              'Operation',
              <span key="operation" className="mono">
                {request.operation}
              </span>,
            ],
            ['Approval rule', toSentence(request.action)],
            ...Object.entries(request.params).map(
              ([name, value]) =>
                [toSentence(name), <CopyValue key={name} value={value} name={`the ${name}`} />] as const,
            ),
            ...Object.entries(request.query).map(([name, value]) => [toSentence(name), String(value)] as const),
            ['Content hash', <CopyValue key="hash" value={request.content_hash} name="the content hash" />],
            ['Based on', request.head === null ? 'no stored revision' : <span className="mono">{request.head}</span>],
            ['Revision', request.revision],
            ['Change request id', <CopyValue key="id" value={request.cr_id} name="the request id" />],
          ]}
        />
        <JsonBlock value={request.body} name="Request body" />
        <Text size="xs" c="dimmed">
          Approval executes exactly this request.
        </Text>
      </Stack>
    </details>
  )
}
