/** The home page of a signed-out user: sign-in and API documentation. */
import { Anchor, Box, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { DemoPeople } from '#console/session/demo-people.tsx'
import { SessionEndNote } from '#console/session/session-end-note.tsx'
import { TokenBox } from '#console/session/token-box.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { usePageFocus } from '#console/ui/page.tsx'
import { Section } from '#console/ui/section.tsx'

export function Welcome() {
  const heading = usePageFocus('Home')
  return (
    <Box className="page" maw={1080}>
      <Stack gap="xl">
        <Stack gap="xs" maw={680}>
          <Title order={1} ref={heading} tabIndex={-1} className="page-title">
            Decisions you can prove
          </Title>
          <Text size="lg" c="dimmed">
            Probity versions policy data, evaluates risk against it, and can replay every decision exactly as it was
            made. Each tenant sees only its own data; the database enforces this.
          </Text>
        </Stack>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Section title="Sign in">
            <SessionEndNote />
            <DemoPeople />
            <TokenBox />
          </Section>
          <Stack gap="md">
            <Section title="The API">
              <List spacing={6} listStyleType="none">
                <List.Item>
                  <PageLink to="/api-docs" fw={500}>
                    API documentation
                  </PageLink>
                  <Text size="sm" c="dimmed">
                    Every operation, with requests you can send from the page
                  </Text>
                </List.Item>
                <List.Item>
                  <Anchor href="/api/openapi.json" fw={500}>
                    OpenAPI document
                  </Anchor>
                  <Text size="sm" c="dimmed">
                    The API description as JSON, for client generators and tests
                  </Text>
                </List.Item>
              </List>
            </Section>
          </Stack>
        </SimpleGrid>
      </Stack>
    </Box>
  )
}
