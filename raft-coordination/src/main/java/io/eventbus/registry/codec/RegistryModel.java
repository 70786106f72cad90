package io.eventbus.registry.codec;

import io.eventbus.registry.schema.RegistryProtocol;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;
import org.jspecify.annotations.Nullable;

/**
 * Avro model that knows the classes of the registry's records, and no others: no other class is
 * ever loaded, whatever names a schema has. So Avro's list of trusted packages, which is one for
 * the whole process, is left alone.
 */
final class RegistryModel extends SpecificData {
  private final Map<String, Class<?>> classes = new HashMap<>();

  RegistryModel() {
    super(RegistryProtocol.class.getClassLoader());
    for (Schema type : RegistryProtocol.PROTOCOL.getTypes()) {
      try {
        classes.put(type.getFullName(), Class.forName(type.getFullName(), true, getClassLoader()));
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException("the class path is damaged", e);
      }
    }
  }

  // Avro's method has a raw type.
  @Override
  @SuppressWarnings("rawtypes")
  public @Nullable Class getClass(Schema schema) {
    if (schema.getType() == Schema.Type.RECORD) {
      return classes.get(schema.getFullName());
    }
    return super.getClass(schema);
  }
}
