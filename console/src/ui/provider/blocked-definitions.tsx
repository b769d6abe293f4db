/** What a missing credential blocks: capabilities of the provider, and the definitions in force that ask it. */
import { Stack, Text } from '@mantine/core'
import { PageLink } from '../link.tsx'
import type { BlockingGap } from './provider-texts.ts'

const paths: Readonly<Record<string, string>> = { matrix: '/matrices', rule: '/rules', playbook: '/playbooks' }

/** With what happens to each definition meanwhile. */
export function BlockedDefinitions({ gap }: { readonly gap: BlockingGap }) {
  return (
    <>
      <Text size="sm" component="div">
        {gap.capabilities.join(', ')}
      </Text>
      {gap.blocks.length > 0 && (
        <Stack gap={2} component="ul" className="plain-list" aria-label={`Blocked by ${gap.provider_key}`}>
          {gap.blocks.map(({ kind, key, title, is_required, alternatives }) => (
            <li key={`${kind} ${key}`}>
              <Text size="xs" component="div">
                <PageLink to={`${paths[kind] ?? `/${kind}s`}/${key}`} size="xs">
                  {title}
                </PageLink>{' '}
                <span className="quiet">
                  ({kind}){!is_required && ', left out meanwhile'}
                  {alternatives.length > 0 && `, ${alternatives.join(', ')} can answer instead`}
                </span>
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </>
  )
}
