/** Attaches a file, an object that is stored already, or a reference to something outside. */
import { SegmentedControl } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { TextField, TimeField } from '#console/ui/text-field.tsx'
import { type Investigation, touchedByEvidence } from './investigation-queries.ts'
import { ObjectChoice, type StoredObject } from './object-choice.tsx'

type Way = 'file' | 'object' | 'reference'

interface AttachEvidenceProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

const ways = [
  { value: 'file', label: 'A file' },
  { value: 'object', label: 'Something stored' },
  { value: 'reference', label: 'A reference' },
]

/** Stored as a document about the subject, with the restriction of the case. A large one is stored by a job. */
export async function storeDocument(
  investigation: Investigation,
  { upload_id, sha256 }: Schemas['Upload'],
  title: string,
) {
  const { subject, is_restricted, restriction_id } = investigation
  const document = await probity.POST('/api/documents', {
    body: {
      upload_id,
      title,
      subject_id: subject.subject_id,
      ...(sha256 !== null && { sha256 }),
      ...(is_restricted && { restriction_id }),
    },
  })
  if (document.state === 'storing' && document.job_id !== null) await probity.jobs.wait(document.job_id)
  return document.document_id
}

export function AttachEvidence({ investigation, onClose }: AttachEvidenceProps) {
  const may = usePermission()
  const canUpload = may('createDocument')
  const [way, setWay] = useState<Way>(canUpload ? 'file' : 'object')
  const [title, setTitle] = useState('')
  /** The title follows the file until a person has typed one. */
  const [isTyped, setTyped] = useState(false)
  const [upload, setUpload] = useState<Schemas['Upload'] | null>(null)
  const [object, setObject] = useState<StoredObject | null>(null)
  const [reference, setReference] = useState('')
  const [source, setSource] = useState('')
  const [obtained, setObtained] = useState('')
  const attach = useApiMutation(
    async () => {
      const owner = { owner_kind: 'investigation' as const, owner_id: investigation.investigation_id, title }
      if (way === 'file' && upload !== null) {
        const object_id = await storeDocument(investigation, upload, title)
        return await probity.POST('/api/evidence', { body: { ...owner, kind: 'document', object_id } })
      }
      if (way === 'object' && object !== null)
        return await probity.POST('/api/evidence', { body: { ...owner, ...object.named } })
      const obtained_at = toInstant(obtained)
      return await probity.POST('/api/evidence', {
        body: { ...owner, kind: 'external_reference', reference, source, ...(obtained_at && { obtained_at }) },
      })
    },
    { invalidates: touchedByEvidence, successMessage: 'Evidence attached', onDone: onClose },
  )
  const isReady = way === 'file' ? upload !== null : way === 'object' ? object !== null : true
  return (
    <FormDialog
      title="Attach evidence"
      isOpen
      onClose={onClose}
      onSubmit={() => isReady && attach.run(undefined)}
      submit="Attach"
      change={attach}
    >
      <SegmentedControl
        aria-label="What to attach"
        data={canUpload ? ways : ways.slice(1)}
        value={way}
        onChange={(value) => setWay(value as Way)}
      />
      {way === 'file' && (
        <FileDrop
          label="File to attach"
          restriction_id={investigation.is_restricted ? investigation.restriction_id : null}
          upload={upload}
          extensions={[]}
          onFile={(file) => !isTyped && setTitle(file.name.slice(0, 300))}
          onUploaded={setUpload}
        />
      )}
      {way === 'object' && (
        <ObjectChoice
          subject={investigation.subject}
          chosen={object}
          onChoose={(next) => {
            setObject(next)
            if (next !== null && !isTyped) setTitle(next.label.slice(0, 300))
          }}
        />
      )}
      <TextField
        label="Title"
        isRequired
        max={300}
        value={title}
        onChange={(typed) => {
          setTitle(typed)
          setTyped(typed !== '')
        }}
      />
      {way === 'reference' && (
        <>
          <TextField
            label="Where it is found"
            description="An address, a file number, a place in an archive."
            isRequired
            max={2000}
            value={reference}
            onChange={setReference}
          />
          <TextField
            label="Source"
            description="Who it comes from."
            isRequired
            max={300}
            value={source}
            onChange={setSource}
          />
          <TimeField label="Obtained" isRequired value={obtained} onChange={setObtained} />
        </>
      )}
    </FormDialog>
  )
}
