/** Runs a version once with an input of the user. Nothing is stored. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { JsonEditor } from '#console/ui/json-editor.tsx'
import { findJsonFaultPlace, formatFaultPlace } from '#console/ui/json-fault.ts'
import type { PluginVersion } from '#console/ui/plugin/plugin-texts.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { type EntryPoint, getEntryPoints, readExample } from './example-runs.ts'
import { RunResult } from './run-result.tsx'

/** The first example is a good input to change. */
function getFirstInput({ kind, examples }: PluginVersion, entry_point: EntryPoint | undefined): string {
  const { runs } = readExample(kind, examples[0], 0)
  const run = runs.find(({ request }) => request.entry_point === entry_point)
  return JSON.stringify(run?.request.input ?? {}, null, 2)
}

export function TryTab({ version }: { readonly version: PluginVersion }) {
  const offered = getEntryPoints(version.kind)
  const [entry_point, setEntryPoint] = useState(offered[0])
  const [text, setText] = useState(() => getFirstInput(version, offered[0]))
  const [reply, setReply] = useState<Schemas['PluginRun'] | null>(null)
  const place = findJsonFaultPlace(text)
  const run = useApiMutation(
    () =>
      probity.POST('/api/plugins/{plugin_key}/versions/{version}/run', {
        params: { path: { plugin_key: version.plugin_key, version: String(version.version) } },
        body: { input: JSON.parse(text) as unknown, ...(entry_point && { entry_point }) },
      }),
    { invalidates: [], onDone: setReply },
  )
  function choose(chosen: string) {
    setEntryPoint(chosen as EntryPoint)
    setText(getFirstInput(version, chosen as EntryPoint))
    setReply(null)
    run.reset()
  }
  return (
    <Section title="Try it">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (place === null) run.run(undefined)
        }}
      >
        <Stack gap="sm">
          <Text size="sm">
            Runs version {version.version} once, with the configuration of your tenant and the lists in force. Nothing
            is stored.
            {version.kind === 'provider' && ' No provider is called: each function is run alone.'}
          </Text>
          {!version.runs && (
            <Alert color="yellow" role="status">
              This version cannot run now, so the attempt answers with the reasons.
            </Alert>
          )}
          {offered.length > 1 && (
            <SegmentedControl
              size="xs"
              aria-label="Function"
              value={entry_point ?? ''}
              onChange={choose}
              data={offered.map((one) => ({ value: one, label: one }))}
              w="fit-content"
            />
          )}
          <JsonEditor
            label="Input"
            description="As JSON: the first argument of the function."
            value={text}
            onChange={setText}
            fault={place === null ? null : formatFaultPlace(place)}
            minRows={6}
            hasFileButton={false}
          />
          <Group>
            <Button type="submit" size="xs" loading={run.isRunning} disabled={place !== null}>
              Run
            </Button>
          </Group>
          <ProblemNote problem={run.problem} />
          {reply !== null && run.problem === null && !run.isRunning && (
            <Stack gap={4} role="status" aria-label="Result of the run">
              <Text size="sm" fw={600}>
                Output
              </Text>
              <RunResult run={reply} />
            </Stack>
          )}
        </Stack>
      </form>
    </Section>
  )
}
