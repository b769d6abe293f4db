/** Chooses something that is stored about the subject: a document, a decision, the answer of a provider, its record. */
import { Alert, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { formatResult } from '#console/ui/decision/outcome.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import type { Investigation } from './investigation-queries.ts'

type ObjectKind = 'document' | 'evaluation' | 'provider_call' | 'subject_version'

export interface StoredObject {
  readonly label: string
  readonly restriction_id: string | null
  /** The malware scanner found something in it. */
  readonly isInfected?: boolean
  readonly named: { readonly kind: ObjectKind; readonly object_id: string; readonly object_version?: number }
}

interface ObjectChoiceProps {
  readonly subject: Investigation['subject']
  readonly chosen: StoredObject | null
  readonly onChoose: (object: StoredObject | null) => void
}

const kinds = [
  { value: 'document', label: 'Document', needs: 'listDocuments' },
  { value: 'evaluation', label: 'Decision', needs: 'listEvaluations' },
  { value: 'provider_call', label: 'Answer of a provider', needs: 'listProviderCalls' },
  { value: 'subject_version', label: 'Record of the subject', needs: 'getSubject' },
] as const

const MAX_OFFERED = 100

/** The newest about the subject. */
async function listObjects(kind: ObjectKind, subject_id: string, signal: AbortSignal): Promise<StoredObject[]> {
  const query = { subject_id, limit: MAX_OFFERED }
  if (kind === 'document') {
    const { items } = await probity.GET('/api/documents', { params: { query: { ...query, state: 'stored' } }, signal })
    return items.map(({ document_id, title, restriction_id, scan_state }) => ({
      label: title ?? `Document ${document_id.slice(-8)}`,
      restriction_id,
      isInfected: scan_state === 'infected',
      named: { kind, object_id: document_id },
    }))
  }
  if (kind === 'evaluation') {
    const { items } = await probity.GET('/api/evaluations', { params: { query }, signal })
    return items.map((one) => ({
      label: `Decision: ${formatResult(one)} by ${one.definition_key}, ${formatDateTime(one.decided_at)}`,
      restriction_id: null,
      named: { kind, object_id: one.evaluation_id },
    }))
  }
  if (kind === 'provider_call') {
    const { items } = await probity.GET('/api/providers/calls', { params: { query }, signal })
    return items.map((one) => ({
      label: `${one.provider_key}: ${one.capability}, ${formatDateTime(one.created_at)}`,
      restriction_id: one.restriction_id,
      named: { kind, object_id: one.call_id },
    }))
  }
  const subject = await probity.GET('/api/subjects/{subject_id}', { params: { path: { subject_id } }, signal })
  const named = { kind, object_id: subject_id, object_version: subject.revision }
  return [{ label: `Record as of ${formatDateTime(subject.updated_at)}`, restriction_id: null, named }]
}

export function ObjectChoice({ subject: { subject_id }, chosen, onChoose }: ObjectChoiceProps) {
  const may = usePermission()
  const offeredKinds = kinds.filter(({ needs }) => may(needs))
  const [kind, setKind] = useState<ObjectKind>(offeredKinds[0]?.value ?? 'document')
  const { data: objects } = useQuery({
    queryKey: ['evidence', 'objects', kind, subject_id],
    queryFn: ({ signal }) => listObjects(kind, subject_id, signal),
    throwOnError: false,
  })
  const find = (object_id: string | null) => objects?.find(({ named }) => named.object_id === object_id)
  return (
    <>
      <Select
        label="Kind"
        allowDeselect={false}
        data={offeredKinds.map(({ value, label }) => ({ value, label }))}
        value={kind}
        onChange={(next) => {
          if (next !== null) setKind(next)
          onChoose(null)
        }}
      />
      <Select
        label="Object"
        required
        searchable
        nothingFoundMessage="Nothing of this kind is stored about the subject"
        data={(objects ?? []).map(({ named, label }) => ({ value: named.object_id, label }))}
        value={chosen?.named.object_id ?? null}
        onChange={(object_id) => onChoose(find(object_id) ?? null)}
        renderOption={({ option }) => (
          <span>
            {option.label}
            <RestrictionMark restriction_id={find(option.value)?.restriction_id ?? null} />
          </span>
        )}
      />
      {chosen?.isInfected && (
        <Alert color="red" title="This document is infected" role="alert">
          The malware scanner found something in it. It can be attached, but nobody can show or download it.
        </Alert>
      )}
    </>
  )
}
