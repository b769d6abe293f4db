/** A dropped or chosen file that is sent together with its form: nothing is stored before. */
import { ActionIcon, Group, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import '@mantine/dropzone/styles.css'
import './registry.css'
import { formatSize } from './file-drop.tsx'
import { Icon } from './icons.tsx'

interface FileChoiceProps {
  /** The purpose of the file. */
  readonly label: string
  readonly file: File | null
  readonly onChange: (file: File | null) => void
}

export function FileChoice({ label, file, onChange }: FileChoiceProps) {
  return (
    <Stack gap="xs">
      <Dropzone
        onDrop={([chosen]) => chosen && onChange(chosen)}
        multiple={false}
        maxFiles={1}
        className="drop"
        inputProps={{ 'aria-label': label }}
        aria-label="Drop a file here, or press Enter to choose one"
      >
        <Text fw={600}>{file === null ? 'Drop a file here' : 'Drop another file to replace it'}</Text>
        <Text size="sm" c="dimmed">
          or click to choose one
        </Text>
      </Dropzone>
      {file !== null && (
        <Group gap="xs" role="status">
          <Text size="sm" className="break">
            {file.name}, {formatSize(file.size)}
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label="Remove the file"
            onClick={() => onChange(null)}
          >
            <Icon name="cross" size={14} />
          </ActionIcon>
        </Group>
      )}
    </Stack>
  )
}
