/** The people of the demo tenants, on a server that offers them: one click signs in as one of them. */
import { Button, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { toSentence, toWords } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { type DemoPerson, useDemoSignIn, useDemoTenants } from './demo-sign-in.ts'

interface DemoPeopleProps {
  readonly onDone?: () => void
}

export function DemoPeople({ onDone }: DemoPeopleProps) {
  const tenants = useDemoTenants()
  const session = useDemoSignIn(onDone)
  if (tenants.length === 0) return null
  return (
    <Stack gap="md" mb="md">
      <Text size="sm" c="dimmed">
        This is a demo server: choose who you want to be. No password is needed, and all data is fictitious.
      </Text>
      <ProblemNote problem={session.problem} />
      {tenants.map((tenant) => (
        <div key={tenant.tenant_id}>
          <Title order={2} size="h6" mb={tenantTexts[tenant.slug] === undefined ? 'xs' : 0}>
            Sign in at {tenant.name} as
          </Title>
          {tenantTexts[tenant.slug] !== undefined && (
            <Text size="xs" c="dimmed" mb="xs">
              {tenantTexts[tenant.slug]}
            </Text>
          )}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
            {tenant.people.map((person) => (
              <Button
                key={person.user_id}
                variant="default"
                className="demo-person"
                justify="flex-start"
                h="auto"
                py={6}
                loading={session.user_id === person.user_id}
                disabled={session.isRunning}
                onClick={() => session.signIn(person.user_id)}
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

/** What a demo tenant contains. */
const tenantTexts: Readonly<Record<string, string>> = {
  demo: 'Holds fictitious customers, a year of ratings, alerts and cases.',
  'demo-two': 'Is empty: a guided start leads from the first list to the first decision.',
}

/** "an analyst", "a policy editor and a compliance officer" */
const describePerson = ({ roles }: DemoPerson): string =>
  roles.length === 0 ? 'a person without a role' : roles.map((role) => withArticle(roleName(role))).join(' and ')

const roleName = (role: string): string => (role === 'tenant_admin' ? 'administrator' : toWords(role))

const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
