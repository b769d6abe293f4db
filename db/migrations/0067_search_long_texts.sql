-- An erasure searches uploaded files, up to 512 MiB each. Its search takes time in proportion to the length of the text, however often a mark
-- occurs in it, and little for ASCII. What is found stays the same.

create or replace function app.fold_text(content text) returns text
  language plpgsql immutable parallel safe as $$
begin
  -- ASCII has no marks to remove and one form only; an uploaded file is searched in this spelling.
  if octet_length(content) = length(content) then
    return regexp_replace(translate(lower(content), '`', ''''), '[\s_]+', ' ', 'g');
  end if;
  return regexp_replace(
    translate(
      normalize(
        regexp_replace(
          normalize(replace(lower(normalize(content, nfkc)), U&'\00df', 'ss'), nfkd),
          '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]',
          '', 'g'), nfc),
      U&'\0131\03c2\2018\2019\02bc\0060\00b4\2010\2011\0660\0661\0662\0663\0664\0665\0666\0667\0668\0669\06f0\06f1\06f2\06f3\06f4\06f5\06f6\06f7\06f8\06f9',
      U&'i\03c3''''''''''--01234567890123456789'),
    '[\s_\u00a0\u2000-\u200a\u3000]+', ' ', 'g');
end
$$;

-- Whether an occurrence of the mark that begins after the first two characters of a text, and no later than the mark at its third, is a word.
create function app.stands_alone(around text, mark text, loosely boolean) returns boolean
  language plpgsql immutable parallel safe as $$
declare
  place integer := 2;
  next integer;
begin
  loop
    next := strpos(substr(around, place + 1), mark);
    place := place + next;
    if next = 0 or place > 2 + length(mark) then return false; end if;
    if not app.is_joined(left(mark, 1), substr(around, place - 1, 1), substr(around, place - 2, 1), loosely)
       and not app.is_joined(right(mark, 1), substr(around, place + length(mark), 1), substr(around, place + length(mark) + 1, 1), loosely) then
      return true;
    end if;
  end loop;
end
$$;

create or replace function app.mentions(content text, marks text[], loosely boolean) returns boolean
  language plpgsql immutable parallel safe as $$
declare
  codes constant text := '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\m[0-9a-f]{32,}\M|'
    || '\m[0-9]{4}-[0-9]{2}-[0-9]{2}([t ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(z|[+-][0-9]{2}(:?[0-9]{2})?)?)?';
  folded constant text := app.fold_text(content);
  without_codes text;
  mark text;
  -- What is between the occurrences of the mark.
  pieces text[];
  behind text;
  last integer;
begin
  if folded is null then return false; end if;
  foreach mark in array marks loop
    continue when mark = '' or strpos(folded, mark) = 0;
    if mark ~ codes then
      pieces := string_to_array('  ' || folded || '  ', mark);
    else
      without_codes := coalesce(without_codes, '  ' || regexp_replace(folded, codes, ' ', 'g') || '  ');
      pieces := string_to_array(without_codes, mark);
    end if;
    for piece in 1 .. cardinality(pieces) - 1 loop
      -- As much as an occurrence needs that begins inside this one.
      behind := left(pieces[piece + 1], length(mark) + 2);
      last := piece + 1;
      while length(behind) < length(mark) + 2 and last < cardinality(pieces) loop
        last := last + 1;
        behind := behind || mark || left(pieces[last], length(mark) + 2);
      end loop;
      if app.stands_alone(right(mark || right(pieces[piece], 2), 2) || mark || behind, mark, loosely) then return true; end if;
    end loop;
  end loop;
  return false;
end
$$;
