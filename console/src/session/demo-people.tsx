/** The people of the demo tenants, on a server that offers them: one click signs in as one of them. */
import { Button, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { toSentence, toWords } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { probe } from './client.ts'
import { signInWithToken } from './session.ts'

type DemoTenant = Schemas['DemoPeople']['items'][number]
type DemoPerson = DemoTenant['people'][number]

/** Empty on a server without demo sign-in, or when the page was not opened on the server's own machine. */
async function loadDemoTenants(signal: AbortSignal): Promise<readonly DemoTenant[]> {
  const { data: providers } = await probe.raw.GET('/api/auth/oidc', { signal })
  if (!providers?.has_demo_people) return []
  const { data } = await probe.raw.GET('/api/auth/demo-people', { signal })
  return data?.items ?? []
}

interface DemoPeopleProps {
  readonly onDone?: () => void
}

export function DemoPeople({ onDone }: DemoPeopleProps) {
  const { data: tenants = [] } = useQuery({
    queryKey: ['demo-people'],
    queryFn: ({ signal }) => loadDemoTenants(signal),
    staleTime: 60_000,
    throwOnError: false,
  })
  const session = useMutation({
    mutationFn: (user_id: string) => probe.POST('/api/auth/demo-sessions', { body: { user_id } }),
    onSuccess: ({ access_token }) => {
      signInWithToken(access_token)
      onDone?.()
    },
  })
  if (tenants.length === 0) return null
  const chosen = session.isPending ? session.variables : null
  return (
    <Stack gap="md" mb="md">
      <Text size="sm" c="dimmed">
        This is a demo server: choose who you want to be. No password is needed, and all data is fictitious.
      </Text>
      <ProblemNote problem={isProblem(session.error) ? session.error : null} />
      {tenants.map((tenant) => (
        <div key={tenant.tenant_id}>
          <Title order={2} size="h6" mb="xs">
            Sign in at {tenant.name} as
          </Title>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
            {tenant.people.map((person) => (
              <Button
                key={person.user_id}
                variant="default"
                className="demo-person"
                justify="flex-start"
                h="auto"
                py={6}
                loading={chosen === person.user_id}
                disabled={session.isPending}
                onClick={() => session.mutate(person.user_id)}
              >
                <span className="demo-person-text">
                  <span className="sr-only">{`Sign in as ${describePerson(person)} of ${tenant.name}: `}</span>
                  <span>{person.name}</span>
                  <Text span size="xs" c="dimmed">
                    {person.roles.map((role) => toSentence(roleName(role))).join(', ')}
                  </Text>
                </span>
              </Button>
            ))}
          </SimpleGrid>
        </div>
      ))}
    </Stack>
  )
}

/** "an analyst", "a policy editor and a compliance officer" */
const describePerson = ({ roles }: DemoPerson): string =>
  roles.length === 0 ? 'a person without a role' : roles.map((role) => withArticle(roleName(role))).join(' and ')

const roleName = (role: string): string => (role === 'tenant_admin' ? 'administrator' : toWords(role))

const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
