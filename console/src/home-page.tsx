/** The first page: what this server is, whether it is well, and the ways into its API. */
import { Anchor, Card, Container, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { PageLink } from './location.tsx'
import { ReadinessChecks } from './readiness.tsx'
import { TokenBox } from './token-box.tsx'

export function HomePage() {
  return (
    <Container size="lg" py={{ base: 'lg', sm: 48 }}>
      <Stack gap="xl">
        <Stack gap="xs" maw={680}>
          <Title order={1}>Decisions you can prove</Title>
          <Text size="lg" c="dimmed">
            Probity keeps policy data in versions, evaluates risk against them, and can replay every decision exactly as
            it was made. Each tenant sees its own data only; the database itself enforces that.
          </Text>
        </Stack>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Section title="This server">
            <ReadinessChecks />
          </Section>
          <Stack gap="lg">
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
                    The same as JSON, for generators and tests
                  </Text>
                </List.Item>
              </List>
            </Section>
            <Section title="Your token">
              <TokenBox />
            </Section>
          </Stack>
        </SimpleGrid>
      </Stack>
    </Container>
  )
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} withBorder padding="lg">
      <Title order={2} size="h4" id={id} mb="md">
        {title}
      </Title>
      {children}
    </Card>
  )
}
