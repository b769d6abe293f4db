/** Giving a file: dropped or chosen, sent at once, with what was received to compare. */
import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import '@mantine/dropzone/styles.css'
import '../../ui/registry.css'
import type { Schemas } from '@probity/client'
import { useEffect, useRef, useState } from 'react'
import { probity } from '../../session/client.ts'
import { useChange } from '../../ui/change.ts'
import { CopyValue } from '../../ui/copy-value.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ProblemNote } from '../../ui/problem-note.tsx'

type Upload = Schemas['Upload']

interface FileDropProps {
  readonly upload: Upload | null
  readonly extensions: readonly string[]
  readonly onFile: (file: File) => void
  readonly onUploaded: (upload: Upload | null) => void
}

export function FileDrop({ upload, extensions, onFile, onUploaded }: FileDropProps) {
  const [file, setFile] = useState<File | null>(null)
  const abort = useRef<AbortController | null>(null)
  const send = useChange(
    (chosen: File) => {
      abort.current = new AbortController()
      return probity.uploads.create(chosen, { signal: abort.current.signal })
    },
    { touches: [], onDone: onUploaded },
  )
  useEffect(() => () => abort.current?.abort(), [])
  function take(files: readonly File[]) {
    const chosen = files[0]
    if (!chosen) return
    setFile(chosen)
    onUploaded(null)
    onFile(chosen)
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
        inputProps={{ 'aria-label': 'File to import' }}
        aria-label="Drop a file here, or press Enter to choose one"
      >
        <Text fw={600}>{file === null ? 'Drop a file here' : 'Drop another file to replace it'}</Text>
        <Text size="sm" c="dimmed">
          or click to choose one{extensions.length > 0 && `: ${extensions.join(', ')}`}
        </Text>
      </Dropzone>
      {file !== null && send.isRunning && (
        <div role="status">
          <Text size="sm" mb={4}>
            Sending {file.name}, {sizeOf(file.size)}
          </Text>
          <Progress value={100} animated striped size="sm" aria-label="The file is being sent" />
        </div>
      )}
      <ProblemNote problem={send.problem} />
      {send.problem !== null && file !== null && (
        <Group>
          <Button size="xs" onClick={() => send.run(file)}>
            Send it again
          </Button>
        </Group>
      )}
      {upload !== null && (
        <Group gap="xs" role="status">
          <Icon name="check" size={16} />
          <Text size="sm">
            {upload.file_name ?? 'The file'} is here, {sizeOf(upload.size_bytes)}
          </Text>
          {upload.sha256 !== null && <CopyValue value={upload.sha256} name="its SHA-256" />}
        </Group>
      )}
    </Stack>
  )
}

export const sizeOf = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
