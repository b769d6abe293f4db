/** The evidence of a case: kind, source, version, hash, state, and what it shows in place. */
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { TEST_EVIDENCE_TEXT } from '#console/ui/decision/is-test.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Icon, type IconName } from '#console/ui/icons.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { AttachEvidence } from './attach-evidence.tsx'
import { CaseAuthor } from './case-author.tsx'
import { EnteredAnswer } from './entered-answer.tsx'
import { EvidencePreview } from './evidence-preview.tsx'
import {
  type Evidence,
  evidenceKinds,
  hasEnded,
  type Investigation,
  isNotFound,
  isOpen,
  touchedByEvidence,
  useEvidence,
  useHolds,
} from './investigation-queries.ts'
import { type CheckResult, checkMarks, checkTexts, useEvidenceChecks } from './use-evidence-checks.ts'

interface EvidenceColumnProps {
  readonly investigation: Investigation
  readonly isAttaching: boolean
  readonly onAttaching: (isAttaching: boolean) => void
}

export function EvidenceColumn({ investigation, isAttaching, onAttaching }: EvidenceColumnProps) {
  const may = usePermission()
  const evidence = useEvidence(investigation.investigation_id)
  const [opened, setOpened] = useState<string | null>(null)
  const checks = useEvidenceChecks()
  const holds = useHolds()
  const attached = evidence?.items.filter((item) => item.detached_at === null && item.erased_at === null) ?? []
  const canAttach = isOpen(investigation) && may('createEvidence')
  const attach = !hasEnded(investigation) && may('createEvidence') && (
    <Button size="xs" variant="default" disabled={!canAttach} onClick={() => onAttaching(true)}>
      Attach
    </Button>
  )
  return (
    <section aria-labelledby="evidence">
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h5" id="evidence" tabIndex={-1}>
          Evidence
        </Title>
        <Group gap="xs">
          {attached.length > 1 && may('verifyEvidence') && (
            <Button
              size="xs"
              variant="subtle"
              loading={checks.isRunning}
              title="Compare everything with its hash"
              onClick={() => checks.verify(attached)}
            >
              Verify all
            </Button>
          )}
          {attach}
        </Group>
      </Group>
      {investigation.state === 'proposed' && (
        <Text size="xs" c="dimmed" mb="xs">
          Evidence cannot be changed while an outcome is proposed. Withdraw or return the proposal first.
        </Text>
      )}
      <ProblemNote problem={checks.problem} />
      {evidence === undefined && <ListSkeleton />}
      {evidence?.items.length === 0 && (
        <EmptyState
          title="No evidence yet"
          about="Steps add answers of providers and decisions. You can attach documents, records and references."
        />
      )}
      <ul className="plain-list case-evidence">
        {evidence?.items.map((item) => (
          <li key={item.evidence_id}>
            <EvidenceItem
              item={item}
              name={evidence.getEvidenceName(item.evidence_id)}
              check={checks.found[item.evidence_id]}
              hold={holds(item.object_id)}
              isNotFound={investigation.steps.some((step) => step.evidence_id === item.evidence_id && isNotFound(step))}
              onVerify={() => checks.verify([item])}
              canDetach={canAttach && may('detachEvidence')}
              isOpened={opened === item.evidence_id}
              onToggle={() => setOpened(opened === item.evidence_id ? null : item.evidence_id)}
            />
          </li>
        ))}
      </ul>
      {evidence?.isWhole === false && (
        <Text size="xs" c="dimmed">
          Only the newest are shown.
        </Text>
      )}
      {isAttaching && canAttach && <AttachEvidence investigation={investigation} onClose={() => onAttaching(false)} />}
    </section>
  )
}

const icons: Readonly<Record<Evidence['kind'], IconName>> = {
  document: 'record',
  provider_call: 'provider',
  match: 'search',
  evaluation: 'scale',
  subject_version: 'person',
  transaction: 'batch',
  ownership_graph: 'shape',
  external_reference: 'docs',
}

interface EvidenceItemProps {
  readonly item: Evidence
  readonly name: string
  /** What comparing it with its hash has shown; undefined: it was not compared since the page was opened. */
  readonly check: CheckResult | undefined
  readonly hold: Schemas['Hold'] | undefined
  /** An answer of a provider that has nothing. */
  readonly isNotFound: boolean
  readonly onVerify: () => void
  readonly canDetach: boolean
  readonly isOpened: boolean
  readonly onToggle: () => void
}

function EvidenceItem(props: EvidenceItemProps) {
  const { item, name, check, hold, isNotFound: hasNothing, isOpened, onToggle } = props
  const { kind, title, source, object_version, detached_at, erased_at } = item
  return (
    <div className="evidence" data-detached={detached_at !== null || undefined}>
      <button type="button" className="evidence-open" aria-expanded={isOpened} onClick={onToggle}>
        <Icon name={icons[kind]} size={16} />
        <span className="evidence-name">
          <b>{name}</b> {title ?? 'Erased'}
        </span>
        <Icon name="chevron" size={12} />
      </button>
      <Group gap={6} className="evidence-facts">
        <Text span size="xs" c="dimmed">
          {[evidenceKinds[kind], source, object_version === null ? null : `version ${object_version}`]
            .filter((text, place, all) => text && all.indexOf(text) === place)
            .join(' · ')}
        </Text>
        {item.entered !== null && <Mark text="entered by hand" title="A person entered it in place of the provider." />}
        <TestMark of={item} text={TEST_EVIDENCE_TEXT} />
        {hasNothing && <Mark text="not found" title="The provider answered that it has nothing." />}
        {detached_at !== null && <Mark text="detached" />}
        {erased_at !== null && <Mark text="erased" />}
        {hold !== undefined && <Mark text="held" color="indigo" title={hold.reason} />}
        {check !== undefined && <Mark {...checkMarks[check]} title={checkTexts[check]} />}
        <RestrictionMark restriction_id={item.restriction_id} />
      </Group>
      {isOpened && <EvidenceDetails {...props} />}
    </div>
  )
}

interface MarkProps {
  readonly text: string
  readonly color?: string
  readonly title?: string
}

const Mark = ({ text, color = 'gray', title }: MarkProps) => (
  <Badge size="sm" variant="light" color={color} tt="none" {...(title !== undefined && { title })}>
    {text}
  </Badge>
)

function EvidenceDetails({ item, name, canDetach, onVerify }: EvidenceItemProps) {
  const may = usePermission()
  const [isDetaching, setDetaching] = useState(false)
  const { evidence_id } = item
  return (
    <Stack gap={6} className="evidence-details">
      <EvidencePreview item={item} />
      {item.entered !== null && <EnteredAnswer of={item.entered} />}
      {item.is_test && <Text size="xs">{TEST_EVIDENCE_TEXT}</Text>}
      <Text size="xs" component="div">
        Obtained <DateTime at={item.obtained_at} />, added <CaseAuthor of={item.added_by} />
      </Text>
      {item.detached_at !== null && (
        <Text size="xs" component="div">
          Detached <DateTime at={item.detached_at} />
          {item.detached_by !== null && (
            <>
              , by <Principal of={item.detached_by} isAlwaysNamed />
            </>
          )}
          {item.detach_reason !== null && `: “${item.detach_reason}”`}
        </Text>
      )}
      <CopyValue value={item.content_hash} name={`the hash of ${name}`} />
      <Group gap="xs">
        {may('verifyEvidence') && (
          <Button size="compact-xs" variant="default" aria-label={`Verify ${name}`} onClick={onVerify}>
            Verify
          </Button>
        )}
        {canDetach && item.detached_at === null && (
          <Button size="compact-xs" variant="default" onClick={() => setDetaching(true)}>
            Detach
          </Button>
        )}
      </Group>
      {isDetaching && <DetachDialog evidence_id={evidence_id} name={name} onClose={() => setDetaching(false)} />}
    </Stack>
  )
}

interface DetachDialogProps {
  readonly evidence_id: string
  readonly name: string
  readonly onClose: () => void
}

function DetachDialog({ evidence_id, name, onClose }: DetachDialogProps) {
  const [reason, setReason] = useState('')
  const detach = useApiMutation(
    () => probity.POST('/api/evidence/{evidence_id}/detach', { params: { path: { evidence_id } }, body: { reason } }),
    { invalidates: touchedByEvidence, successMessage: `${name} detached`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Detach ${name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => detach.run(undefined)}
      submit="Detach"
      change={detach}
    >
      <Text size="sm">
        The record is kept with your name and the reason. Paragraphs that cite it need other evidence.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
