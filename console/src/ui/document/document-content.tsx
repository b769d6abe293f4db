/**
 * Shows texts and images of a document in the page, when the user asks for it, because each read is recorded. Nothing of the document
 * runs: a text is shown as text, and an image comes from a data URL. Everything else can be downloaded only.
 */
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useApiMutation } from '../api-mutation.ts'
import { ProblemNote } from '../problem-note.tsx'
import { saveFile } from '../save-file.ts'
import { readContent, type StoredDocument } from './document-queries.ts'

const TEXT_TYPES = ['text/plain', 'text/csv', 'application/json', 'application/xml', 'message/rfc822']
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_PREVIEW_BYTES = 5_000_000
const MAX_TEXT_CHARS = 100_000

type Preview = { readonly text: string } | { readonly image: string }

const canPreview = ({ media_type, size_bytes }: StoredDocument): boolean =>
  size_bytes <= MAX_PREVIEW_BYTES && [...TEXT_TYPES, ...IMAGE_TYPES].includes(media_type)

/** The type is the one that the service recognised. */
const toDataUrl = (content: Blob, media_type: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(new Error('The file cannot be read.'))
    reader.readAsDataURL(new Blob([content], { type: media_type }))
  })

async function loadPreview({ document_id, media_type }: StoredDocument): Promise<Preview> {
  const content = await readContent(document_id)
  if (IMAGE_TYPES.includes(media_type)) return { image: await toDataUrl(content, media_type) }
  return { text: (await content.text()).slice(0, MAX_TEXT_CHARS) }
}

interface DocumentContentProps {
  readonly document: StoredDocument
  /** In a narrow column. */
  readonly isSmall?: boolean
}

export function DocumentContent(props: DocumentContentProps) {
  if (props.document.scan_state === 'infected')
    return (
      <Text size={props.isSmall ? 'xs' : 'sm'} c="red">
        The malware scanner found something in it, so nobody can show or download it.
      </Text>
    )
  return <ReadableContent {...props} />
}

function ReadableContent({ document, isSmall = false }: DocumentContentProps) {
  const size = isSmall ? 'compact-xs' : 'sm'
  const [preview, setPreview] = useState<Preview | null>(null)
  const show = useApiMutation(() => loadPreview(document), { invalidates: ['documents'], onDone: setPreview })
  const download = useApiMutation(() => readContent(document.document_id), {
    invalidates: ['documents'],
    onDone: (content) => saveFile(document.file_name ?? document.document_id, content),
  })
  return (
    <>
      <Group gap="xs" mb="sm">
        {canPreview(document) && preview === null && (
          <Button size={size} variant="default" loading={show.isRunning} onClick={() => show.run(undefined)}>
            Show
          </Button>
        )}
        <Button size={size} variant="default" loading={download.isRunning} onClick={() => download.run(undefined)}>
          Download
        </Button>
        <Text size={isSmall ? 'xs' : 'sm'} c="dimmed">
          {!canPreview(document) &&
            'Only texts and images of at most 5 MB are shown here; a PDF or another file may contain active content, so it can only be downloaded. '}
          Every time is recorded in the custody of the document.
        </Text>
      </Group>
      <ProblemNote problem={show.problem ?? download.problem} />
      {preview !== null && 'text' in preview && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard.
        <section aria-label="Text of the document" tabIndex={0} style={{ maxHeight: 400, overflow: 'auto' }}>
          <pre className="mono" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', margin: 0 }}>
            {preview.text}
          </pre>
        </section>
      )}
      {preview !== null && 'image' in preview && (
        <img src={preview.image} alt={document.title ?? 'The document'} style={{ maxWidth: '100%', maxHeight: 600 }} />
      )}
    </>
  )
}
