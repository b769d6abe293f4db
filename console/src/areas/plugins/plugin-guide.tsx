/** What the author of a plugin must know, from the running service: functions, permissions and limits. */
import './plugins.css'
import { Code, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatSize } from '#console/ui/file-drop.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { extensionPointsQuery } from '#console/ui/plugin/plugin-queries.ts'
import { Section } from '#console/ui/section.tsx'

export function PluginGuide() {
  const { data } = useQuery({ ...extensionPointsQuery, throwOnError: false })
  return (
    <Section title="How a plugin is written">
      <Stack gap="sm">
        <Text size="sm">
          <Code>probity plugin init</Code> writes a plugin that works, <Code>probity plugin check</Code> validates it as
          this service does, and <Code>probity plugin pack</Code> makes the zip file. The guide is{' '}
          <Code>docs/plugins.md</Code> of the installation; the operations are in the{' '}
          <PageLink to="/api-docs" inherit>
            API documentation
          </PageLink>
          .
        </Text>
        {data?.items.map((point) => (
          <details key={point.kind} className="fold">
            <summary>{point.title}</summary>
            <Stack gap={4} mt={4}>
              <Text size="sm">{point.description}</Text>
              {point.entry_points.map((entry) => (
                <Text size="sm" key={entry.name} component="div">
                  <Code>export function {entry.name}</Code> is called with {entry.arguments.join('; ')}. It returns{' '}
                  {entry.returns}.
                </Text>
              ))}
            </Stack>
          </details>
        ))}
        {data && (
          <Text size="sm" c="dimmed">
            A package has at most {formatSize(data.limits.package_bytes)}, at least {data.limits.examples} golden
            examples, fuel up to {data.limits.fuel.toLocaleString('en')} and memory up to {data.limits.memory_mib} MiB.
            It sees no clock, no random numbers, no network and no other module.
          </Text>
        )}
      </Stack>
    </Section>
  )
}
