/** The golden examples of a version: input, expected output, and a run of each. */
import './plugins.css'
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Changes } from '#console/ui/decision/changes.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import type { PluginVersion } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonList } from '#console/ui/plugin/reason-list.tsx'
import { findValueChanges, type ValueChange } from '#console/ui/plugin/value-changes.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { findExampleReasons, type ReadExample, readExample } from './example-runs.ts'
import { RunUse } from './run-result.tsx'

export function ExamplesTab({ version }: { readonly version: PluginVersion }) {
  if (version.examples.length === 0) {
    return (
      <EmptyState
        title="No golden examples"
        about="A manifest has at least three examples, each with an input and the exact output. They are run whenever the plugin is validated; a version without them cannot run."
      />
    )
  }
  return (
    <Stack gap="md">
      <Text size="sm">
        {version.validation?.valid
          ? 'Each example gave exactly its output when the version was validated: forwards, backwards and alone.'
          : 'Each example must give exactly its output when the version is validated: forwards, backwards and alone.'}
      </Text>
      {version.examples.map((example, index) => (
        <Example
          // Examples have no identity beside their place.
          key={index}
          version={version}
          example={readExample(version.kind, example, index)}
          index={index}
        />
      ))}
    </Stack>
  )
}

interface ExampleProps {
  readonly version: PluginVersion
  readonly example: ReadExample
  readonly index: number
}

interface FinishedRun {
  readonly run: Schemas['PluginRun']
  readonly changes: readonly ValueChange[]
}

function Example({ version, example, index }: ExampleProps) {
  const may = usePermission()
  const [finished, setFinished] = useState<readonly FinishedRun[]>([])
  const path = { plugin_key: version.plugin_key, version: String(version.version) }
  const run = useApiMutation(
    () =>
      Promise.all(
        example.runs.map(async ({ request, expected }): Promise<FinishedRun> => {
          const reply = await probity.POST('/api/plugins/{plugin_key}/versions/{version}/run', {
            params: { path },
            body: { ...request },
          })
          return { run: reply, changes: findValueChanges(expected, reply.output) }
        }),
      ),
    { invalidates: [], onDone: setFinished },
  )
  const reasons = findExampleReasons(version.reasons, index)
  return (
    <Section
      title={example.name}
      actions={
        may('runPluginVersion') &&
        version.runs &&
        example.runs.length > 0 && (
          <Button size="xs" variant="default" loading={run.isRunning} onClick={() => run.run(undefined)}>
            Run<span className="sr-only"> the example {example.name}</span>
          </Button>
        )
      }
    >
      <Stack gap="sm">
        {reasons.length > 0 && (
          <Alert color="red" icon={<Icon name="warning" />} title="Why the version cannot run" role="status">
            <ReasonList reasons={reasons} label={`Faults of the example ${example.name}`} />
          </Alert>
        )}
        <ProblemNote problem={run.problem} />
        {!run.isRunning &&
          finished.map((one, place) => (
            <Comparison
              key={place}
              finished={one}
              {...(finished.length > 1 && { entry_point: example.runs[place]?.request.entry_point })}
              hasConfig={example.hasConfig}
            />
          ))}
        <div className="example-parts">
          {example.parts.map(([name, value]) => (
            <div key={name}>
              <Text size="sm" fw={600} mb={2}>
                {name}
              </Text>
              <JsonBlock value={value} name={`${name} of the example ${example.name}`} />
            </div>
          ))}
        </div>
      </Stack>
    </Section>
  )
}

interface ComparisonProps {
  readonly finished: FinishedRun
  /** Named where an example runs several. */
  readonly entry_point?: string | undefined
  readonly hasConfig: boolean
}

function Comparison({ finished: { run, changes }, entry_point, hasConfig }: ComparisonProps) {
  const isSame = changes.length === 0
  const what = entry_point === undefined ? 'It' : entry_point
  return (
    <Alert
      color={isSame ? 'teal' : 'orange'}
      icon={<Icon name={isSame ? 'check' : 'warning'} />}
      title={isSame ? `${what} gave the expected output` : `${what} gave another output`}
      role="status"
    >
      {!isSame && <Changes label="How the output differs" sides={['Expected', 'Now']} changes={changes} />}
      {!isSame && hasConfig && (
        <Text size="sm">
          The example has a configuration of its own. This run used the configuration of your tenant, which explains a
          difference.
        </Text>
      )}
      <RunUse run={run} />
    </Alert>
  )
}
