package io.eventbus.client;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Conversion;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;

/**
 * Avro model of a generated class and the types that it is made of.
 *
 * <p>Avro refuses to load classes by names in schemas unless a system property declares them as
 * trusted, because a schema may come from anywhere. Here it comes from a class that the application
 * has named, so that the types in it are as trusted as that class. All other names are Avro's to
 * judge.
 */
final class DeclaredTypes extends SpecificData {
  private final ClassLoader loader;
  private final Set<String> declared = new HashSet<>();
  private final Map<String, Class<?>> classes = new ConcurrentHashMap<>();

  DeclaredTypes(Class<?> type, Schema schema) {
    super(type.getClassLoader());
    loader = type.getClassLoader();
    for (Conversion<?> conversion : SpecificData.getForClass(type).getConversions()) {
      addLogicalTypeConversion(conversion);
    }
    declare(schema);
  }

  private void declare(Schema schema) {
    switch (schema.getType()) {
      case RECORD -> {
        if (declared.add(schema.getFullName())) {
          schema.getFields().forEach(field -> declare(field.schema()));
        }
      }
      case ENUM, FIXED -> declared.add(schema.getFullName());
      case ARRAY -> declare(schema.getElementType());
      case MAP -> declare(schema.getValueType());
      case UNION -> schema.getTypes().forEach(this::declare);
      default -> {
        // A primitive: no class of the application.
      }
    }
  }

  @Override
  @SuppressWarnings("rawtypes") // As it is declared in Avro.
  public Class getClass(Schema schema) {
    boolean named =
        switch (schema.getType()) {
          case RECORD, ENUM, FIXED -> true;
          default -> false;
        };
    return named && declared.contains(schema.getFullName())
        ? classes.computeIfAbsent(getClassName(schema), this::load)
        : super.getClass(schema);
  }

  private Class<?> load(String name) {
    try {
      return Class.forName(name, true, loader);
    } catch (ClassNotFoundException e) {
      throw new EventBusException.UnreadablePayload("no class " + name + " for its schema", e);
    }
  }
}
