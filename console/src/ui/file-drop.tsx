/** Uploads a dropped or chosen file at once and shows its size and hash. */
import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import '@mantine/dropzone/styles.css'
import './registry.css'
import type { Schemas } from '@probity/client'
import { useEffect, useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from './api-mutation.ts'
import { CopyValue } from './copy-value.tsx'
import { Icon } from './icons.tsx'
import { ProblemNote } from './problem-note.tsx'

type Upload = Schemas['Upload']

interface FileDropProps {
  readonly upload: Upload | null
  readonly extensions: readonly string[]
  /** The purpose of the file. */
  readonly label?: string
  /** Of what the file becomes part of. */
  readonly restriction_id?: string | null
  readonly onFile?: (file: File) => void
  readonly onUploaded: (upload: Upload | null) => void
}

export function FileDrop({
  upload,
  extensions,
  label = 'File to import',
  restriction_id,
  onFile,
  onUploaded,
}: FileDropProps) {
  const [file, setFile] = useState<File | null>(null)
  const [percent, setPercent] = useState(0)
  const abort = useRef<AbortController | null>(null)
  const send = useApiMutation(
    (chosen: File) => {
      abort.current = new AbortController()
      setPercent(0)
      return probity.uploads.create(chosen, {
        ...(restriction_id && { restriction_id }),
        signal: abort.current.signal,
        onProgress: ({ sent_bytes }) => setPercent(toPercent(sent_bytes, chosen.size)),
      })
    },
    { invalidates: [], onDone: onUploaded },
  )
  useEffect(() => () => abort.current?.abort(), [])
  function take(files: readonly File[]) {
    const chosen = files[0]
    if (!chosen) return
    setFile(chosen)
    onUploaded(null)
    onFile?.(chosen)
    send.run(chosen)
  }
  return (
    <Stack gap="sm">
      <Dropzone
        onDrop={take}
        multiple={false}
        maxFiles={1}
        disabled={send.isRunning}
        className="drop"
        inputProps={{ 'aria-label': label }}
        aria-label="Drop a file here, or press Enter to choose one"
      >
        <Text fw={600}>{file === null ? 'Drop a file here' : 'Drop another file to replace it'}</Text>
        <Text size="sm" c="dimmed">
          or click to choose one{extensions.length > 0 && `: ${extensions.join(', ')}`}
        </Text>
      </Dropzone>
      {file !== null && send.isRunning && (
        <div>
          <Text size="sm" mb={4} role="status">
            Uploading {file.name}, {formatSize(file.size)}
          </Text>
          <Group gap="sm" wrap="nowrap">
            <Progress value={percent} size="sm" flex={1} aria-label="Upload progress" />
            <Text size="sm" miw={44} ta="right" aria-hidden="true">
              {percent} %
            </Text>
          </Group>
        </div>
      )}
      <ProblemNote problem={send.problem} />
      {send.problem !== null && file !== null && (
        <Group>
          <Button size="xs" onClick={() => send.run(file)}>
            Upload again
          </Button>
        </Group>
      )}
      {upload !== null && <UploadedFile upload={upload} />}
    </Stack>
  )
}

function UploadedFile({ upload }: { readonly upload: Upload }) {
  return (
    <Group gap="xs" role="status">
      <Icon name="check" size={16} />
      <Text size="sm">
        {upload.file_name ?? 'File'} uploaded, {formatSize(upload.size_bytes)}
      </Text>
      {upload.sha256 !== null && <CopyValue value={upload.sha256} name="its SHA-256" />}
    </Group>
  )
}

/** Whole percent; 100 only when everything was sent. */
const toPercent = (sent_bytes: number, size_bytes: number): number =>
  size_bytes === 0 ? 100 : Math.floor((Math.min(sent_bytes, size_bytes) / size_bytes) * 100)

const KIB = 1024
const MIB = 1024 * KIB

/** In the units in which the API states limits. */
export const formatSize = (bytes: number): string => {
  if (bytes < KIB) return `${bytes} bytes`
  return bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`
}
