/** Places a legal hold on a subject, or on another object by its id. */
import { Select, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { RestrictionSelect } from '#console/ui/restriction/restriction-select.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { DocumentSelect } from './document-select.tsx'

const kinds = [
  { value: 'subject', label: 'Subject' },
  { value: 'document', label: 'Document' },
]

interface PlaceHoldProps {
  /** Chosen already where the dialog was opened from its page. */
  readonly object: { readonly object_kind?: string; readonly object_id?: string }
  readonly onClose: () => void
}

export function PlaceHold({ object, onClose }: PlaceHoldProps) {
  const navigate = useNavigate()
  const [object_kind, setKind] = useState(object.object_kind ?? 'subject')
  const [object_id, setObject] = useState<string | null>(object.object_id ?? null)
  const [reason, setReason] = useState('')
  const [reference, setReference] = useState('')
  const [restriction_id, setRestriction] = useState<string | null>(null)
  const place = useApiMutation(
    (id: string) =>
      probity.POST('/api/holds', {
        body: {
          object_kind,
          object_id: id,
          reason,
          authority_reference: reference.trim() === '' ? null : reference,
          restriction_id: object_kind === 'subject' ? restriction_id : null,
        },
      }),
    {
      invalidates: ['holds'],
      successMessage: 'Hold placed',
      onDone: ({ hold_id }) => navigate({ to: `/holds/${hold_id}` }),
    },
  )
  return (
    <FormDialog
      title="Place a hold"
      isOpen
      onClose={onClose}
      onSubmit={() => object_id !== null && place.run(object_id)}
      submit="Place the hold"
      change={place}
    >
      <Select
        label="Kind of object"
        data-autofocus
        allowDeselect={false}
        data={kinds}
        value={object_kind}
        onChange={(value) => {
          setKind(value ?? 'subject')
          setObject(null)
        }}
      />
      {object_kind === 'subject' ? (
        <SubjectPicker label="Subject" subject_id={object_id} onChange={setObject} isRequired />
      ) : (
        <DocumentSelect document_id={object_id} onChange={setObject} />
      )}
      <ReasonField value={reason} onChange={setReason} />
      <TextInput
        label="Reference of the authority"
        description="Number of the order or letter that asks for the hold."
        maxLength={200}
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
      {object_kind === 'subject' ? (
        <RestrictionSelect
          description="Only people with access then see the hold. It applies to everybody."
          restriction_id={restriction_id}
          onChange={setRestriction}
        />
      ) : (
        <Text size="sm" c="dimmed">
          A hold on a document is restricted together with the document, now or later.
        </Text>
      )}
    </FormDialog>
  )
}
