package io.eventbus.conformance.report;

import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Report in the JUnit format of build servers. */
public final class JunitReport {
  private JunitReport() {}

  /** Returns the report of a run. */
  public static String of(Result result) {
    StringWriter text = new StringWriter();
    try {
      XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(text);
      xml.writeStartDocument();
      xml.writeStartElement("testsuite");
      xml.writeAttribute("name", "eventbus-conformance");
      xml.writeAttribute("tests", Integer.toString(result.outcomes().size()));
      xml.writeAttribute(
          "failures",
          Long.toString(result.outcomes().stream().filter(o -> !result.isExpected(o)).count()));
      xml.writeAttribute("skipped", Long.toString(result.count(Verdict.LEFT_OUT)));
      for (Outcome outcome : result.outcomes()) {
        write(xml, result, outcome);
      }
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("writing to memory failed", e);
    }
    return text.toString();
  }

  private static void write(XMLStreamWriter xml, Result result, Outcome outcome)
      throws XMLStreamException {
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", "tier" + outcome.scenario().tier());
    xml.writeAttribute("name", outcome.scenario().id());
    xml.writeAttribute(
        "time", String.format(Locale.ROOT, "%.3f", outcome.took().toMillis() / 1000.0));
    if (!result.isExpected(outcome)) {
      xml.writeStartElement("failure");
      xml.writeAttribute(
          "message",
          outcome.verdict() == Verdict.FAILED
              ? legal(outcome.message())
              : "is on the list of known failures and does not fail");
      xml.writeCharacters(legal(text(outcome)));
      xml.writeEndElement();
    } else if (outcome.verdict() == Verdict.LEFT_OUT) {
      xml.writeEmptyElement("skipped");
      xml.writeAttribute("message", legal(outcome.message()));
    }
    xml.writeEndElement();
  }

  private static String text(Outcome outcome) {
    List<String> lines = outcome.transcript();
    return outcome.scenario().says() + "\n" + String.join("\n", lines);
  }

  /** Removes characters that are illegal in XML 1.0. */
  private static String legal(String text) {
    return text.replaceAll("[^\\t\\n\\r\\x20-\\uD7FF\\uE000-\\uFFFD\\x{10000}-\\x{10FFFF}]", "?");
  }
}
