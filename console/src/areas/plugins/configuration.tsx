/** The configuration of a plugin: shown, and edited as JSON with located faults. */
import './plugins.css'
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { JsonEditor } from '#console/ui/json-editor.tsx'
import { findObjectFault } from '#console/ui/json-fault.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'

interface ConfigurationProps {
  readonly plugin: Plugin
  readonly schema: Readonly<Record<string, unknown>> | null
}

export function Configuration({ plugin, schema }: ConfigurationProps) {
  const may = usePermission()
  const [isEditing, setEditing] = useState(false)
  return (
    <Section
      title="Configuration"
      actions={
        !isEditing &&
        may('updatePluginConfiguration') && (
          <Button size="xs" variant="default" onClick={() => setEditing(true)}>
            Change configuration
          </Button>
        )
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          {plugin.configuration_revision === 0
            ? 'Never configured: the plugin gets an empty object at every run.'
            : 'The plugin gets this object at every run. Decisions keep the configuration they were made with.'}
        </Text>
        {isEditing ? (
          <ConfigurationForm plugin={plugin} onClose={() => setEditing(false)} />
        ) : (
          <JsonBlock value={plugin.configuration} name="Configuration as JSON" />
        )}
        {schema !== null && (
          <details className="fold">
            <summary>What a configuration may hold, as JSON Schema</summary>
            <JsonBlock value={schema} name="Schema of the configuration" />
          </details>
        )}
      </Stack>
    </Section>
  )
}

function ConfigurationForm({ plugin, onClose }: { readonly plugin: Plugin; readonly onClose: () => void }) {
  const { plugin_key, configuration_revision } = plugin
  const [text, setText] = useState(() => JSON.stringify(plugin.configuration, null, 2))
  const [reason, setReason] = useState('')
  const fault = findObjectFault(text, 'A configuration')
  const save = useApiMutation(
    () =>
      probity.PUT('/api/plugins/{plugin_key}/configuration', {
        params: { path: { plugin_key } },
        body: {
          configuration: JSON.parse(text) as Record<string, unknown>,
          reason,
          // Nothing was configured before the first revision.
          ...(configuration_revision > 0 && { expected_revision: configuration_revision }),
        },
      }),
    { invalidates: ['definitions'], successMessage: 'Configuration saved', onDone: onClose },
  )
  const located = getLocatedFaults(save.problem)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (fault === null) save.run(undefined)
      }}
    >
      <Stack gap="sm">
        <JsonEditor
          label="Configuration"
          description="As JSON. Paste it, or drop a file here."
          value={text}
          onChange={setText}
          fault={fault}
          minRows={6}
        >
          {(show) =>
            located.length > 0 && (
              <Stack
                gap={4}
                component="ul"
                className="plain-list"
                aria-label="Faults of the configuration"
                role="alert"
              >
                {located.map(({ pointer, detail }) => (
                  <Text key={`${pointer} ${detail}`} size="sm" c="red" component="li">
                    <Anchor component="button" type="button" size="sm" onClick={() => show(pointer)}>
                      {pointer === '' ? 'The configuration' : pointer}
                    </Anchor>{' '}
                    {detail}
                  </Text>
                ))}
              </Stack>
            )
          }
        </JsonEditor>
        <ReasonField value={reason} onChange={setReason} />
        <ApprovalNote request={save.waiting} />
        {located.length === 0 && <ProblemNote problem={save.problem} onReload={onClose} />}
        <Group gap="xs">
          {save.waiting === null && (
            <Button type="submit" size="xs" loading={save.isRunning} disabled={fault !== null}>
              Save configuration
            </Button>
          )}
          <Button size="xs" variant="default" onClick={onClose}>
            {save.waiting === null ? 'Cancel' : 'Close'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Faults inside the configuration, by their place in it. */
const getLocatedFaults = (problem: ProbityProblem | null) =>
  (problem?.errors ?? [])
    .filter(({ pointer }) => pointer.startsWith('#/configuration'))
    .map(({ pointer, detail }) => ({ pointer: pointer.slice('#/configuration'.length), detail }))
