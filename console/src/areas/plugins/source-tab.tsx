/** The files of a version with numbered lines. Reading them is recorded, so they are shown on request. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { useSetFilters } from '#console/ui/filters.tsx'
import { LocatedText, type ShownLine } from '#console/ui/located-text.tsx'
import { describeReason, type PluginReason, type PluginVersion } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonList } from '#console/ui/plugin/reason-list.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveFile } from '#console/ui/save-file.ts'
import { Section } from '#console/ui/section.tsx'

type Source = Schemas['PluginSource']

/** The line in the page address: a reason named it. */
function useLine(): number | null {
  const { line } = useSearch({ strict: false }) as { line?: unknown }
  return Number.isInteger(line) && Number(line) > 0 ? Number(line) : null
}

export function SourceTab({ version }: { readonly version: PluginVersion }) {
  const [source, setSource] = useState<Source | null>(null)
  const line = useLine()
  const [shown, setShown] = useState<ShownLine | null>(null)
  const set = useSetFilters()
  const { plugin_key, origin } = version
  const read = useApiMutation(
    () =>
      probity.GET('/api/plugins/{plugin_key}/versions/{version}/source', {
        params: { path: { plugin_key, version: String(version.version) }, query: { origin } },
      }),
    { invalidates: [], onDone: setSource },
  )
  // Whoever asks for a line asks for the source, once: it is not read again because the line is still in the address.
  useEffect(() => {
    if (line === null) return
    setShown({ line })
    set({ line: undefined })
    if (source === null) read.run(undefined)
  }, [line])
  if (source !== null) {
    return (
      <Stack gap="md">
        {source.files.map((file) => (
          <File
            key={file.path}
            file={file}
            {...(file.path === source.entry ? { reasons: version.reasons, shown } : { reasons: [], shown: null })}
          />
        ))}
      </Stack>
    )
  }
  return (
    <Section title="Source">
      <Stack gap="sm">
        <Text size="sm">
          {version.files.length === 0
            ? 'The package has no readable file.'
            : `The package has ${version.files.map(({ path }) => path).join(', ')}.`}
        </Text>
        <Group gap="sm">
          <Button size="xs" variant="default" loading={read.isRunning} onClick={() => read.run(undefined)}>
            Show the source
          </Button>
          <Text size="xs" c="dimmed">
            Opening it is recorded in the audit record.
          </Text>
        </Group>
        <ProblemNote problem={read.problem} />
      </Stack>
    </Section>
  )
}

interface FileProps {
  readonly file: Source['files'][number]
  readonly reasons: readonly PluginReason[]
  readonly shown: ShownLine | null
}

function File({ file: { path, text }, reasons, shown }: FileProps) {
  const located = reasons.filter(({ line = 0 }) => line > 0)
  return (
    <Section
      title={path}
      actions={
        <Button size="xs" variant="default" onClick={() => saveFile(path, new Blob([text]))}>
          Download<span className="sr-only"> {path}</span>
        </Button>
      }
    >
      <Stack gap="sm">
        <LocatedText
          name={`Source of ${path}`}
          text={text}
          shown={shown}
          marks={located.map(({ code, message, line = 1 }) => ({ line, text: `${describeReason(code)}. ${message}` }))}
        >
          {(show) =>
            located.length > 0 && (
              <ReasonList reasons={located} label="Faults in the source" onShow={({ line = 1 }) => show(line)} />
            )
          }
        </LocatedText>
      </Stack>
    </Section>
  )
}
