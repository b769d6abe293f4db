/** Wire contract of sample widgets. */
import {
  closed,
  ExpectedRevision,
  Id,
  nullable,
  pageOf,
  pageQuery,
  Revision,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const Name = text(200, { description: 'Unique within the tenant.' })
const Note = nullable(text(2000))

export const SampleWidget = closed(
  {
    sample_widget_id: Id(),
    name: Name,
    note: Note,
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    updated_by: text(200),
    revision: Revision,
  },
  { title: 'SampleWidget' },
)
export const SampleWidgetPage = pageOf(SampleWidget)
export const SampleWidgetParams = closed({ sample_widget_id: Id() })
export const SampleWidgetQuery = closed({ ...pageQuery, name: Type.Optional(Name) })
export const SampleWidgetRequest = closed({ name: Name, note: Type.Optional(Note) })
export const SampleWidgetChange = closed(
  { name: Type.Optional(Name), note: Type.Optional(Note), expected_revision: ExpectedRevision },
  { minProperties: 1 },
)
