/** Uploads a file with its progress and stores it as a document. */
import { TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'

interface NewDocumentProps {
  /** Chosen already where the dialog was opened from the page of the subject. */
  readonly subject_id: string | null
  readonly onClose: () => void
}

export function NewDocument({ subject_id, onClose }: NewDocumentProps) {
  const navigate = useNavigate()
  const [upload, setUpload] = useState<Schemas['Upload'] | null>(null)
  const [title, setTitle] = useState('')
  /** The title follows the file until a person has typed one. */
  const [isTyped, setTyped] = useState(false)
  const [category, setCategory] = useState('')
  const [subject, setSubject] = useState(subject_id)
  const store = useApiMutation(
    ({ upload_id, sha256 }: Schemas['Upload']) =>
      probity.POST('/api/documents', {
        body: {
          upload_id,
          title,
          subject_id: subject,
          ...(category !== '' && { category }),
          ...(sha256 !== null && { sha256 }),
        },
      }),
    {
      invalidates: ['documents'],
      successMessage: ({ state }) => (state === 'storing' ? 'The document is being stored' : 'Document stored'),
      onDone: ({ document_id }) => navigate({ to: `/documents/${document_id}` }),
    },
  )
  return (
    <FormDialog
      title="Store a document"
      isOpen
      onClose={onClose}
      onSubmit={() => upload && store.run(upload)}
      submit="Store"
      change={store}
    >
      <FileDrop
        label="File to store"
        upload={upload}
        extensions={[]}
        onFile={(file) => !isTyped && setTitle(file.name.slice(0, 300))}
        onUploaded={setUpload}
      />
      <TextInput
        label="Title"
        required
        maxLength={300}
        value={title}
        onChange={(event) => {
          setTitle(event.currentTarget.value)
          setTyped(event.currentTarget.value !== '')
        }}
      />
      <SubjectPicker
        label="Subject"
        description="Whom it is about. The document is erased together with the subject."
        subject_id={subject}
        onChange={setSubject}
      />
      <TextInput
        label="Category"
        description="One word of your own, such as passport or contract."
        maxLength={100}
        value={category}
        onChange={(event) => setCategory(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
