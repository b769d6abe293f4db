/** Whether a file is the complete list or a delta, and how the delta marks removed entries. */
import { SegmentedControl, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import type { Dataset } from '#console/ui/registry-queries.ts'
import type { Delta } from './import-request.ts'

export interface DeltaForm {
  readonly is_delta: boolean
  readonly pointer: string
  readonly values: readonly string[]
  readonly keys: readonly string[]
}
export const FULL_FILE: DeltaForm = { is_delta: false, pointer: '', values: [], keys: [] }

/** Null: the file is the whole list. */
export function toDelta({ is_delta, pointer, values, keys }: DeltaForm, base_version: number): Delta | null {
  if (!is_delta) return null
  const marker = pointer !== '' && values.length > 0 ? { pointer: toPointer(pointer), values: [...values] } : undefined
  const removed = { ...(marker && { marker }), ...(keys.length > 0 && { keys: [...keys] }) }
  return { base_version, ...(Object.keys(removed).length > 0 && { removed }) }
}

/** Users may enter a column name instead of a pointer. */
const toPointer = (text: string): string => (text.startsWith('/') ? text : `/${text}`)

interface DeltaModeProps {
  readonly dataset: Dataset
  readonly value: DeltaForm
  readonly onChange: (value: DeltaForm) => void
}

export function DeltaMode({ dataset, value, onChange }: DeltaModeProps) {
  if (dataset.head_version === 0) return null
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Content of the file"
        maw={420}
        value={value.is_delta ? 'delta' : 'full'}
        data={[
          { value: 'full', label: 'Complete list' },
          { value: 'delta', label: 'Changes only' },
        ]}
        onChange={(mode) => onChange({ ...value, is_delta: mode === 'delta' })}
      />
      {value.is_delta && (
        <>
          <Text size="sm">
            The file contains added and changed entries. All other entries are taken from version {dataset.head_version}
            , the newest one.
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <TextInput
              label="Field that marks removed rows"
              placeholder="action"
              maxLength={200}
              value={value.pointer}
              onChange={(event) => onChange({ ...value, pointer: event.currentTarget.value.trim() })}
            />
            <TagsInput
              label="Values that mean removed"
              placeholder="D"
              value={[...value.values]}
              onChange={(values) => onChange({ ...value, values })}
            />
          </SimpleGrid>
          <TagsInput
            label="Additional keys to remove"
            value={[...value.keys]}
            onChange={(keys) => onChange({ ...value, keys })}
          />
        </>
      )}
    </Stack>
  )
}
