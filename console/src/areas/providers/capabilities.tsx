/** What a provider can be asked: promise, contract, cost, and the definitions that read its answers. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { listContractKeys, type Manifest, type ManifestCapability } from '#console/ui/provider/manifest.ts'
import { promiseNames, promiseTexts } from '#console/ui/provider/provider-texts.ts'
import { Facts, Section } from '#console/ui/section.tsx'

export function Capabilities({ of }: { readonly of: Manifest }) {
  if (of.capabilities.length === 0) {
    return (
      <EmptyState
        title="No capabilities"
        about="A capability is one question that can be asked. Add one to the manifest in a draft."
      />
    )
  }
  return (
    <Stack gap="md">
      {of.capabilities.map((capability) => (
        <CapabilitySection key={capability.name} of={capability} />
      ))}
    </Stack>
  )
}

const promiseColors = { free: 'teal', keyed: 'cyan', once: 'orange' } as const

function CapabilitySection({ of }: { readonly of: ManifestCapability }) {
  const inputs = Object.entries(of.input.properties)
  return (
    <Section
      title={of.title ?? of.name}
      actions={
        <Badge variant="light" tt="none" miw="max-content" color={promiseColors[of.promise]}>
          {promiseNames[of.promise]}
        </Badge>
      }
    >
      <Facts
        of={[
          [
            'Name',
            <span key="name" className="mono">
              {of.name}
            </span>,
          ],
          ['Promise', promiseTexts[of.promise]],
          [
            'Source contract',
            of.contract_key === null ? (
              <span key="contract" className="quiet">
                none: its answers are stored and not checked
              </span>
            ) : (
              <PageLink key="contract" to={`/source-contracts/${of.contract_key}`} inherit>
                {of.contract_key}
              </PageLink>
            ),
          ],
          of.list_key !== null && [
            'List',
            <PageLink key="list" to={`/datasets/${of.list_key}`} inherit>
              {of.list_key}
            </PageLink>,
          ],
          [
            'Input',
            <Group key="input" gap={8}>
              {inputs.map(([name, { title, type, format }]) => (
                <span key={name}>
                  {title ?? toSentence(name)}{' '}
                  <span className="quiet">
                    {format ?? type}
                    {of.input.required.includes(name) ? '' : ', optional'}
                  </span>
                </span>
              ))}
            </Group>,
          ],
          of.tool !== null && [
            'Tool',
            <span key="tool" className="mono">
              {of.tool}
            </span>,
          ],
          of.cost !== null && ['Cost', `${of.cost} per request`],
          of.request !== null && [
            'Request',
            <span key="request" className="mono">
              {of.request}
            </span>,
          ],
        ]}
      />
    </Section>
  )
}

const families: Readonly<Record<string, { readonly word: string; readonly path: string }>> = {
  matrix: { word: 'Matrix', path: '/matrices' },
  rule: { word: 'Rule', path: '/rules' },
}

/** Definitions in force whose inputs come from the contracts of the provider. */
export function Dependents({ of }: { readonly of: Manifest }) {
  const may = usePermission()
  const keys = listContractKeys(of)
  const { data } = useQuery({
    queryKey: ['source-contracts', 'readers', keys],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        keys.map((contract_key) =>
          probity.GET('/api/source-contracts/{contract_key}/lineage', { params: { path: { contract_key } }, signal }),
        ),
      )
      const readers = found.flatMap(({ items }) => items.flatMap(({ read_by }) => read_by))
      return readers.filter(({ is_active }) => is_active)
    },
    enabled: keys.length > 0 && may('getSourceContractLineage'),
    throwOnError: false,
  })
  if (keys.length === 0 || !may('getSourceContractLineage')) return null
  const readers = data ?? []
  const definitions = [...new Map(readers.map((one) => [`${one.family} ${one.key}`, one])).values()]
  return (
    <Section title="Used by">
      {definitions.length === 0 ? (
        <Text size="sm" c="dimmed">
          {data === undefined
            ? 'Not known.'
            : 'No matrix or rule in force reads an answer of this provider. An input of a matrix names the contract and the fact it comes from.'}
        </Text>
      ) : (
        <Facts
          of={definitions.map(({ family, key }) => {
            const { word, path } = families[family] ?? { word: toSentence(family), path: '' }
            const facts = readers.filter((one) => one.family === family && one.key === key).map(({ fact }) => fact)
            return [
              word,
              <span key={`${family} ${key}`}>
                {path === '' ? (
                  key
                ) : (
                  <PageLink to={`${path}/${key}`} inherit>
                    {key}
                  </PageLink>
                )}
                <span className="quiet"> reads {[...new Set(facts)].join(', ')}</span>
              </span>,
            ]
          })}
        />
      )}
    </Section>
  )
}
